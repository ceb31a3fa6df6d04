// Files for others: the picture as SVG or PNG, tables as CSV, and images for paper.

function save(name, type, content) {
  const link = element("a", null, { download: name, href: URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type })) });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
const fileName = (ending) => `${(record.title || "graph").replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "").slice(0, 60) || "graph"}.${ending}`;

// The graph as an SVG of its own, in the colours of the page, names as they are placed.
function graphSvg() {
  const { wide, high } = frame(), zoom = cy.zoom(), pan = cy.pan(), size = labelFont();
  const at = (part) => { const { x, y } = part.position(); return [x * zoom + pan.x, y * zoom + pan.y]; };
  const svg = drawn("svg", { xmlns: "http://www.w3.org/2000/svg", viewBox: `0 0 ${wide} ${high}`, width: wide, height: high, "font-family": "system-ui, sans-serif", "font-size": size });
  svg.append(drawn("rect", { width: wide, height: high, fill: colour("panel") }));
  const line = (edge, stroke, thick, dash, opacity) => {
    const [[x1, y1], [x2, y2]] = [at(edge.source()), at(edge.target())];
    svg.append(drawn("line", { x1, y1, x2, y2, stroke, "stroke-width": thick, opacity, ...(dash ? { "stroke-dasharray": "7 4" } : {}) }));
  };
  cy.edges(".line").forEach((edge) => line(edge, colour("ink"), 2.5, false, 0.45));
  cy.edges(".link").forEach((edge) => line(edge, colour(edge.data("colour")), edge.data("thick"), edge.data("dash") === "dashed", 0.85));
  names.forEach((name, node) => {
    const [cx, cy_] = at(cy.getElementById(`n${node}`));
    svg.append(drawn("circle", { cx, cy: cy_, r: radius(), fill: nodeColour(node), stroke: colour("node-line"), "stroke-width": 1.5 }, drawn("title", {}, document.createTextNode(name))));
  });
  (state.boxes || []).forEach((box) => {
    if (!box) return;
    const [right] = box.at, x = right > 0 ? box.left + 1 : right < 0 ? box.right - 1 : (box.left + box.right) / 2;
    box.text.split("\n").forEach((text, k) => svg.append(drawn("text", {
      x, y: box.top + (k + 0.82) * 1.18 * size, "text-anchor": right > 0 ? "start" : right < 0 ? "end" : "middle",
      fill: colour("ink"), stroke: colour("panel"), "stroke-width": 2.5, "paint-order": "stroke", "stroke-linejoin": "round",
    }, document.createTextNode(text))));
  });
  return svg;
}
function currentSvg() {
  const svg = state.view === "matrix" ? matrixPicture() : graphSvg();
  svg.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  return new XMLSerializer().serializeToString(svg)
    .replace(/var\(--([a-z-]+)\)/g, (_, name) => colour(name)); // alone, it does not know the page's colours
}
const asData = (svg) => `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
byId("save-svg").addEventListener("click", () => save(fileName("svg"), "image/svg+xml", currentSvg()));
byId("save-png").addEventListener("click", () => {
  const image = new Image();
  image.onload = () => {
    const canvas = element("canvas"), context = canvas.getContext("2d");
    [canvas.width, canvas.height] = [3 * image.width, 3 * image.height];
    context.fillStyle = colour("panel");
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((blob) => save(fileName("png"), "image/png", blob), "image/png");
  };
  image.src = asData(currentSvg());
});
// As a spreadsheet reads it: a cell that begins like a formula gets an apostrophe before it.
const csvCell = (value, number) => {
  const text = number ? String(value).replace("−", "-").replace("–", "") : /^[=+@\t\r-]/.test(String(value)) ? `'${value}` : String(value ?? "");
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};
function csv(id) {
  const { columns, rows } = kinds[id], some = columns.filter((column) => !column.picture);
  const lines = [some.map((column) => csvCell(column.title)), ...rows().map((row) => some.map((column) => csvCell(column.text(row), column.number)))];
  return `${lines.map((line) => line.join(",")).join("\r\n")}\r\n`;
}
for (const button of document.querySelectorAll("[data-save]")) {
  button.addEventListener("click", () => save(fileName(`${button.dataset.save}.csv`), "text/csv", csv(button.dataset.save)));
}
byId("copy").addEventListener("click", () => {
  const text = byId("method").innerText, told = () => { byId("copied").textContent = "copied"; };
  if (navigator.clipboard) { navigator.clipboard.writeText(text).then(told, () => { byId("copied").textContent = "select it and copy"; }); return; }
  byId("copied").textContent = "select it and copy";
});

// On paper: light colours, the picture as a drawing that fills the page, charts as images of a readable size.
let before;
function toPaper() {
  if (document.querySelector("img.paper")) return;
  before = document.documentElement.dataset.theme;
  document.documentElement.dataset.theme = "light";
  recolour();
  const image = (src, alt) => element("img", null, { class: "paper", alt, src });
  byId("graph").append(image(asData(currentSvg()), byId("graph").getAttribute("aria-label")));
  for (const made of charts) {
    made.resize(900, 380);
    made.canvas.parentElement.append(image(made.toBase64Image("image/png", 1), made.canvas.getAttribute("aria-label")));
  }
}
function fromPaper() {
  if (before) document.documentElement.dataset.theme = before; else delete document.documentElement.dataset.theme;
  for (const image of document.querySelectorAll("img.paper")) image.remove();
  for (const made of charts) made.resize();
  recolour();
}
addEventListener("beforeprint", toPaper);
addEventListener("afterprint", fromPaper);
