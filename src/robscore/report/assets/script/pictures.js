// The two pictures of the graph, robust and classic.

const labelSize = 12;

function style() {
  const text = colour("ink"), panel = colour("panel");
  return [
    {
      selector: "node[name]",
      style: {
        label: "data(label)", width: 12, height: 12, "background-color": colour("node"), "border-width": 1.6,
        "border-color": colour("node-line"), color: text, "font-size": labelSize, "text-outline-color": panel,
        "text-outline-width": 2, "min-zoomed-font-size": 7, "text-halign": "data(across)", "text-valign": "data(up)",
        "text-margin-x": "data(shiftX)", "text-margin-y": "data(shiftY)", "overlay-opacity": 0,
      },
    },
    { selector: "node[name][!placed]", style: { "text-opacity": 0, "text-outline-opacity": 0 } },
    { selector: "node.line", style: { width: 0.1, height: 0.1, opacity: 0, events: "no" } },
    { selector: "edge.line", style: { width: 2.5, "line-color": text, opacity: 0.55, events: "no", "curve-style": "straight" } },
    {
      selector: "edge.link",
      style: {
        width: "data(width)", "line-color": (edge) => colour(edge.data("colour")), "line-style": "data(dash)",
        opacity: 0.85, "curve-style": "straight", "overlay-opacity": 0,
      },
    },
    { selector: "node.far", style: { opacity: 0.4, "text-opacity": 0.3 } },
    { selector: "edge.link.far", style: { opacity: 0.13 } },
    {
      selector: "node.near",
      style: { "text-opacity": 1, "text-outline-opacity": 1, "min-zoomed-font-size": 0, "z-index": 20 },
    },
    { selector: "node.held", style: { "background-color": colour("mark"), width: 17, height: 17, "font-weight": "bold", "z-index": 30 } },
    { selector: "edge.link.near", style: { opacity: 1, "z-index": 19 } },
  ];
}

function nodeData(node) {
  const side = layouts[state.layout].sides[node], [right, up] = side || [1, 0];
  const both = right && up ? 0.55 : 1;
  return {
    id: `n${node}`, node, name: names[node], label: names[node].length > 28 ? `${names[node].slice(0, 27)}…` : names[node], placed: side ? 1 : 0,
    across: right > 0 ? "right" : right < 0 ? "left" : "center", up: up > 0 ? "top" : up < 0 ? "bottom" : "center",
    shiftX: 3 * right * both, shiftY: -2 * up * both,
  };
}

function makeGraph(container) {
  const layout = layouts[state.layout];
  const cy = cytoscape({
    container, style: style(), layout: { name: "preset" }, minZoom: 0.05, maxZoom: 8, boxSelectionEnabled: false,
    selectionType: "single", autounselectify: true,
    elements: names.map((_, node) => {
      const [x, y] = layout.places[node];
      return { group: "nodes", data: nodeData(node), position: { x, y } };
    }),
  });
  return cy;
}

const pictures = { robust: makeGraph(byId("robust")) };
if (classic) pictures.classic = makeGraph(byId("classic"));
const all = Object.values(pictures);

function linkElements(own, other, method) {
  return [...own].map(([pair, strength]) => {
    const shared = other.has(pair), compare = state.beside && classic;
    return {
      group: "edges",
      data: {
        id: `e${pair}`, source: `n${Math.floor(pair / m)}`, target: `n${pair % m}`, pair, strength,
        width: 1.2 + 5 * Math.min(1, Math.abs(strength)),
        colour: compare ? (shared ? "both" : method === "robust" ? "only" : "classic") : strength > 0 ? "positive" : "negative",
        dash: compare ? (shared || method === "robust" ? "solid" : "dashed") : strength > 0 ? "solid" : "dashed",
      },
      classes: "link",
    };
  });
}

function drawLinks() {
  here = links(ours());
  there = links(theirs());
  for (const [method, cy] of Object.entries(pictures)) {
    const [own, other] = method === "robust" ? [here, there] : [there, here];
    cy.batch(() => {
      cy.edges(".link").remove();
      cy.add(linkElements(own, other, method));
    });
  }
  highlight();
}

function drawOutline() {
  for (const cy of all) {
    cy.batch(() => {
      cy.elements(".line").remove();
      layouts[state.layout].lines.forEach((line, k) => {
        line.forEach(([x, y], p) => cy.add({ group: "nodes", data: { id: `l${k}-${p}` }, position: { x, y }, classes: "line", locked: true, grabbable: false }));
        for (let p = 1; p < line.length; p++) {
          cy.add({ group: "edges", data: { id: `s${k}-${p}`, source: `l${k}-${p - 1}`, target: `l${k}-${p}` }, classes: "line" });
        }
      });
    });
  }
}

function placeNodes() {
  const layout = layouts[state.layout];
  for (const cy of all) {
    cy.batch(() => names.forEach((_, node) => {
      const [x, y] = layout.places[node];
      cy.getElementById(`n${node}`).position({ x, y }).data(nodeData(node));
    }));
  }
  drawOutline();
  fitAll();
}

function fitAll() {
  // As high as the picture asks for, so that names keep their size.
  const layout = layouts[state.layout], [wide, high] = [0, 1].map((k) => Math.max(1, Math.max(...layout.places.map((p) => p[k])) - Math.min(...layout.places.map((p) => p[k]))));
  const height = Math.min(Math.max(byId("robust").clientWidth * (high + 90) / (wide + 90), 280), Math.max(420, 0.78 * innerHeight));
  for (const id of Object.keys(pictures)) byId(id).style.height = `${height}px`;
  for (const cy of all) {
    cy.resize();
    cy.fit(cy.nodes().not(".line"), 34);
    if (cy.zoom() > 1.7) { cy.zoom(1.7); cy.center(cy.nodes()); }
  }
}

function highlight(node = state.held) {
  for (const cy of all) {
    cy.batch(() => {
      cy.elements().removeClass("far near held");
      if (node === null) return;
      const at = cy.getElementById(`n${node}`), close = at.closedNeighborhood().not(".line");
      cy.elements().not(".line").not(close).addClass("far");
      close.addClass("near");
      at.addClass("held");
    });
  }
}

// Both pictures move together.
let following = false;
function follow(from, to) {
  from.on("viewport", () => {
    if (following || !state.beside) return;
    following = true;
    to.viewport({ zoom: from.zoom(), pan: from.pan() });
    following = false;
  });
  from.on("drag", "node", (event) => to.getElementById(event.target.id()).position({ ...event.target.position() }));
}
if (classic) { follow(pictures.robust, pictures.classic); follow(pictures.classic, pictures.robust); }
