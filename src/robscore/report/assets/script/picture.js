// The picture of the graph. At zoom 1 its units are pixels of its frame, so that names keep their size.

const frame = () => ({ wide: byId("graph").clientWidth, high: byId("graph").clientHeight });
const radius = () => (m > 80 || byId("graph").clientWidth < 500 ? 4 : 6);
const scaleOf = () => 1 / (cy ? cy.zoom() : 1);

function style() {
  const text = colour("ink"), panel = colour("panel");
  return [
    {
      selector: "node[name]",
      style: {
        label: "data(label)", width: "data(size)", height: "data(size)", "background-color": (node) => nodeColour(node.data("node")),
        "border-width": (node) => 0.13 * node.data("size"), "border-color": colour("node-line"), color: text, "font-size": "data(font)",
        "font-family": "system-ui, sans-serif", "text-outline-color": panel, "text-outline-width": (node) => 0.17 * node.data("font"),
        "text-wrap": "wrap", "text-halign": "data(across)", "text-valign": "data(up)", "line-height": 1.1,
        "text-justification": "data(side)", "text-margin-x": "data(shiftX)", "text-margin-y": "data(shiftY)", "overlay-opacity": 0,
      },
    },
    { selector: "node.line", style: { width: 0.1, height: 0.1, opacity: 0, events: "no" } },
    { selector: "edge.line", style: { width: 2.5, "line-color": text, opacity: 0.45, events: "no", "curve-style": "straight" } },
    {
      selector: "edge.link",
      style: {
        width: "data(width)", "line-color": (edge) => colour(edge.data("colour")), "line-style": "data(dash)",
        "line-dash-pattern": [7, 4], opacity: 0.85, "curve-style": "straight", "overlay-opacity": 0,
      },
    },
    { selector: "node.far", style: { opacity: 0.45, "text-opacity": 0.4 } },
    { selector: "edge.link.far", style: { opacity: 0.12 } },
    { selector: "node.near", style: { "z-index": 20 } },
    { selector: "node.held", style: { "background-color": colour("mark"), "font-weight": "bold", "z-index": 30 } },
    { selector: "edge.link.near", style: { opacity: 1, "z-index": 19 } },
  ];
}

let cy = null;
const moved = new Map(); // variables that were dragged: places between 0 and 1, by layout
cy = cytoscape({
  container: byId("graph"), style: [], layout: { name: "preset" }, minZoom: 0.4, maxZoom: 12, boxSelectionEnabled: false,
  selectionType: "single", autounselectify: true,
  elements: names.map((name, node) => ({
    group: "nodes", position: { x: 0, y: 0 },
    data: { id: `n${node}`, node, name, label: "", size: 12, font: 12, across: "right", up: "center", side: "left", shiftX: 0, shiftY: 0 },
  })),
});

// Where the picture is in its frame: its corner and its size in pixels.
function inner() {
  const { wide, high } = frame(), ratio = layouts[state.layout].ratio, side = Math.min(0.16 * wide, 90), edge = 26;
  let [w, h] = [Math.max(wide - 2 * side, 60), Math.max(high - 2 * edge, 60)];
  if (ratio !== null) { if (h / w > ratio) h = w * ratio; else w = h / ratio; }
  return { left: (wide - w) / 2, top: (high - h) / 2, w, h };
}
const inPixels = ([x, y], box = inner()) => ({ x: box.left + x * box.w, y: box.top + y * box.h });
const placeOf = (node) => moved.get(`${state.layout} ${node}`) || layouts[state.layout].places[node];

function fitAll() {
  if (state.view !== "graph") return;
  const ratio = layouts[state.layout].ratio, wide = byId("graph").clientWidth;
  const most = Math.max(420, Math.min(0.8 * innerHeight, 900)), room = (6000 * m) / wide; // pixels that names like to have
  const wanted = ratio === null ? Math.max(0.62 * wide, Math.min(room, 1.6 * wide)) : Math.max(0.78 * wide * ratio + 60, Math.min(room, 1.2 * wide));
  byId("graph").style.height = `${Math.round(Math.min(Math.max(wanted, 300), most))}px`;
  cy.resize();
  cy.viewport({ zoom: 1, pan: { x: 0, y: 0 } });
  const box = inner();
  cy.batch(() => names.forEach((_, node) => cy.getElementById(`n${node}`).position(inPixels(placeOf(node), box))));
  drawOutline();
  label();
}

// Names, sizes and widths for the zoom there is: as large on the screen as ever.
function label() {
  const zoom = cy.zoom(), pan = cy.pan(), size = labelFont(), r = radius();
  const at = names.map((_, node) => { const { x, y } = cy.getElementById(`n${node}`).position(); return [x * zoom + pan.x, y * zoom + pan.y]; });
  const lines = m > 80 ? [] : shownLinks().map(([pair]) => ends(pair));
  const boxes = placeNames(at, frame(), r, size, lines);
  cy.batch(() => boxes.forEach((box, node) => {
    const part = cy.getElementById(`n${node}`);
    if (!box) { part.data({ label: "", size: (2 * r) / zoom, font: size / zoom }); return; }
    const [right, down] = box.at, both = right && down ? 0.3 : 1;
    part.data({
      label: box.text, size: (2 * r) / zoom, font: size / zoom,
      across: right > 0 ? "right" : right < 0 ? "left" : "center", up: down < 0 ? "top" : down > 0 ? "bottom" : "center",
      side: right > 0 ? "left" : right < 0 ? "right" : "center",
      shiftX: (2.5 * right * both) / zoom, shiftY: (1.5 * down * both) / zoom,
    });
  }));
  cy.batch(() => cy.edges(".link").forEach((edge) => edge.data("width", edge.data("thick") / Math.sqrt(zoom) ** 2)));
  state.boxes = boxes;
}

function linkElements() {
  return shownLinks().map(([pair, strength, where]) => {
    const [i, j] = ends(pair), thick = 1.2 + 5 * Math.min(1, Math.abs(strength)), sign = strength > 0 ? "positive" : "negative";
    return {
      group: "edges", classes: "link",
      data: {
        id: `e${pair}`, source: `n${i}`, target: `n${j}`, pair, strength, where, thick, width: thick * scaleOf(),
        colour: state.method === "both" ? where : sign, dash: strength > 0 ? "solid" : "dashed",
      },
    };
  });
}
function drawLinks() {
  here = links(ours());
  there = links(theirs());
  cy.batch(() => { cy.edges(".link").remove(); cy.add(linkElements()); });
  highlight();
}
function drawOutline() {
  const box = inner();
  cy.batch(() => {
    cy.elements(".line").remove();
    layouts[state.layout].lines.forEach((line, k) => {
      line.forEach((place, p) => cy.add({ group: "nodes", data: { id: `l${k}-${p}` }, position: inPixels(place, box), classes: "line", locked: true, grabbable: false }));
      for (let p = 1; p < line.length; p++) cy.add({ group: "edges", data: { id: `s${k}-${p}`, source: `l${k}-${p - 1}`, target: `l${k}-${p}` }, classes: "line" });
    });
  });
}
// What is held, found or pointed at stands out; nothing of it moves.
function highlight(node = state.held, pair = state.link) {
  cy.batch(() => {
    cy.elements().removeClass("far near held");
    let near = null, held = null;
    if (pair !== null) { near = cy.getElementById(`e${pair}`); near = near.union(ends(pair).reduce((some, k) => some.union(cy.getElementById(`n${k}`)), cy.collection())); held = near.nodes(); }
    else if (node !== null) { held = cy.getElementById(`n${node}`); near = held.closedNeighborhood().not(".line"); }
    else if (state.found && state.found.length) { held = state.found.reduce((some, k) => some.union(cy.getElementById(`n${k}`)), cy.collection()); near = held.closedNeighborhood().not(".line"); }
    if (near === null) return;
    cy.elements().not(".line").not(near).addClass("far");
    near.addClass("near");
    held.addClass("held");
  });
}
let waiting = null;
cy.on("zoom pan", () => { clearTimeout(waiting); waiting = setTimeout(label, 60); });
cy.on("free", "node[name]", (event) => {
  const box = inner(), { x, y } = event.target.position();
  moved.set(`${state.layout} ${event.target.data("node")}`, [(x - box.left) / box.w, (y - box.top) / box.h]);
  label();
});
