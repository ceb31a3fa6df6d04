// Controls, paper, and the first drawing of everything.

function refresh() { drawLinks(); captions(); legend(); edgeTable(); if (state.held !== null) hold(state.held); }
function moveTo(at) {
  state.at = at;
  byId("penalty").value = at;
  refresh();
  for (const drawn of charts) drawn.draw();
}
const slider = byId("penalty");
slider.max = graphs.length - 1;
slider.value = chosen;
slider.addEventListener("input", () => moveTo(Number(slider.value)));
byId("to-chosen").addEventListener("click", () => moveTo(chosen));
byId("penalty-control").hidden = graphs.length < 2;
byId("to-chosen").hidden = graphs.length < 2;
byId("beside-control").hidden = !classic;
byId("map-control").hidden = !layouts.map;
function panels() { byId("panels").classList.toggle("alone", !(state.beside && classic)); }
byId("beside").addEventListener("change", (event) => { state.beside = event.target.checked; panels(); refresh(); fitAll(); });
byId("map").addEventListener("change", (event) => { state.layout = event.target.checked ? "map" : "network"; placeNodes(); });
byId("fit").addEventListener("click", fitAll);
function recolour() {
  for (const cy of all) cy.style(style());
  drawCharts();
}
byId("theme").addEventListener("click", () => {
  const root = document.documentElement, dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  recolour();
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", recolour);
// On paper: light colours, and the pictures as images, since a browser does not wait for canvases.
let before;
addEventListener("beforeprint", () => {
  before = document.documentElement.dataset.theme;
  document.documentElement.dataset.theme = "light";
  recolour();
  for (const [id, cy] of Object.entries(pictures)) {
    byId(id).querySelector("img")?.remove();
    byId(id).append(element("img", null, { class: "paper", alt: byId(id).getAttribute("aria-label"), src: cy.png({ full: true, scale: 2, maxWidth: 2400 }) }));
  }
});
addEventListener("afterprint", () => {
  if (before) document.documentElement.dataset.theme = before; else delete document.documentElement.dataset.theme;
  for (const image of document.querySelectorAll("img.paper")) image.remove();
  recolour();
});
addEventListener("resize", fitAll);

byId("path-words").textContent = path.alphas.length > 1
  ? `The smaller the penalty, the more edges. The dashed line is the penalty shown above (chosen: α = ${short(record.fit.alpha)}, ${record.fit.selection}); click a chart to go elsewhere.`
  : `The penalty α = ${short(record.fit.alpha)} was given.`;
panels();
refresh();
rowTable();
factTables();
drawOutline();
fitAll();
drawCharts();
document.documentElement.dataset.ready = String(Math.round(performance.now()));
// For those who look into the page with a console, and for its tests.
window.robscore = { state, pictures, record, hold, moveTo };
