// Captions, the legend, controls, and the first drawing of everything.

function captions() {
  const isClassic = record.fit.n_blocks === 1 && record.fit.share_dropped === null;
  const n = shownLinks().length, hidden = state.method === "both" ? 0 : (state.method === "classic" ? there.size : here.size) - n;
  const which = { robust: isClassic ? "Classic" : "Robust", classic: "Classic", both: "Both graphs" }[state.method];
  const parts = [`${which}: ${count(n, "link")}`];
  if (hidden > 0) parts.push(`${hidden} hidden`);
  if (state.at !== chosen) parts.push(`${count(kept.size, "link")} in the chosen graph`);
  byId("caption").textContent = parts.join(", ");
  byId("penalty-words").textContent = state.at === chosen ? `The chosen graph (${chosenHow()}).` : `${count(here.size, "link")}: ${here.size > kept.size ? "more than the data support by the rule" : "fewer than were chosen"}.`;
  byId("penalty").setAttribute("aria-valuetext", count(here.size, "link"));
  byId("to-chosen").disabled = state.at === chosen;
  const at = state.threshold.at, hides = { strength: `weaker than ${threshold().toFixed(2)}`, certainty: `with q above ${threshold()}: of those shown, at most that share is expected to be false` };
  byId("threshold-words").textContent = at === 0 ? "Nothing is hidden." : `Hidden: links ${hides[state.threshold.kind]}.`;
  byId("graph").setAttribute("aria-label", `The graph: ${count(n, "link")} between ${m} variables. Arrow keys step through them.`);
}
function chosenHow() {
  const { settings } = record;
  if (settings.alpha !== null && settings.alpha !== undefined) return "its penalty was given";
  if (settings.n_edges !== null && settings.n_edges !== undefined) return `${settings.n_edges} links were requested`;
  const rule = Array.isArray(settings.select) ? settings.select[0] : settings.select;
  if (rule === "fdr") return `the links that tests find at a false discovery rate of ${short(100 * settings.fdr)} %`;
  return { f1: "the best balance of found and false links", ebic: "the best balance of fit and number of links", cv: "the best prediction of held-out rows", stars: "the densest graph that recurs in parts of the rows" }[rule] || "by its rule";
}
function stroke(name, dash) {
  const line = drawn("line", { x1: 1, y1: 4, x2: 33, y2: 4, "stroke-width": 3, style: `stroke: var(--${name})`, ...(dash ? { "stroke-dasharray": "7 4" } : {}) });
  return drawn("svg", { width: 34, height: 8, "aria-hidden": "true" }, line);
}
function legend() {
  const items = [];
  const add = (sign, words) => { const item = element("span"); if (sign) item.append(sign); item.append(words); items.push(item); };
  if (state.method === "both") {
    add(stroke("both"), "in both"); add(stroke("only"), "only robust"); add(stroke("classic"), "only classic");
    add(stroke("ink"), "move together (+)"); add(stroke("ink", true), "move against each other (−)");
  } else { add(stroke("positive"), "move together (+)"); add(stroke("negative", true), "move against each other (−)"); }
  add(null, state.view === "matrix" ? "The fuller the colour, the stronger." : "Thicker is stronger.");
  const groups = state.colour === "community" ? [...new Set(central.community)].filter((k) => k >= 0).sort((a, b) => a - b).map((k) => [k, `community ${k + 1}`]) : state.colour === "group" ? groupNames.map((name, k) => [k, name]) : [];
  for (const [k, name] of groups.slice(0, 12)) add(element("i", null, { style: `background: ${palette[k % palette.length]}` }), clip(name, 30));
  byId("legend").replaceChildren(...items);
}
function refresh() {
  drawLinks(); drawMatrix(); captions(); legend();
  if (state.held !== null) hold(state.held);
}
function moveTo(at) {
  state.at = at;
  byId("penalty").value = at;
  refresh();
  for (const made of charts) made.draw();
}
function recolour() {
  cy.style(style());
  drawMatrix();
  drawCharts();
}
function pressed(group, kind, value) {
  for (const button of byId(group).querySelectorAll("button")) button.setAttribute("aria-pressed", String(button.dataset[kind] === value));
}
const slider = byId("penalty");
slider.max = graphs.length - 1;
slider.value = chosen;
slider.addEventListener("input", () => moveTo(Number(slider.value)));
byId("to-chosen").addEventListener("click", () => moveTo(chosen));
byId("penalty-control").hidden = byId("to-chosen").hidden = graphs.length < 2;
byId("methods").hidden = !classic;
byId("map-control").hidden = !layouts.map;
const hide = byId("threshold");
function hiding(kind) {
  state.threshold = { kind, at: 0 };
  hide.max = steps[kind].length - 1;
  hide.value = 0;
}
hiding("strength");
hide.addEventListener("input", () => { state.threshold.at = Number(hide.value); refresh(); });
byId("threshold-kind").addEventListener("change", (event) => { hiding(event.target.value); refresh(); });
if (!tested.size) byId("threshold-kind").querySelector("[value=certainty]").remove();
if (!record.groups) byId("colour-by").querySelector("[value=group]").remove();
byId("colour-by").addEventListener("change", (event) => { state.colour = event.target.value; cy.style(style()); legend(); });
if (record.groups) { state.colour = "group"; byId("colour-by").value = "group"; }
byId("methods").addEventListener("click", (event) => {
  if (!event.target.dataset.method) return;
  state.method = event.target.dataset.method;
  pressed("methods", "method", state.method);
  refresh();
});
byId("views").addEventListener("click", (event) => {
  if (!event.target.dataset.view) return;
  state.view = event.target.dataset.view;
  pressed("views", "view", state.view);
  byId("graph").hidden = state.view !== "graph";
  byId("matrix").hidden = state.view !== "matrix";
  refresh();
  fitAll();
});
function placeOn(layout) {
  state.layout = layout;
  byId("distance-words").textContent = layout === "map" ? "Variables stand where they are on the map." : "Distance has no meaning, except that linked variables are placed near each other.";
}
placeOn(state.layout);
byId("map").addEventListener("change", (event) => { placeOn(event.target.checked ? "map" : "network"); fitAll(); });
byId("fit").addEventListener("click", () => { moved.clear(); fitAll(); });
byId("theme").addEventListener("click", () => {
  const root = document.documentElement, dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  recolour();
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", recolour);
let lastWidth = innerWidth;
addEventListener("resize", () => { if (innerWidth !== lastWidth) { lastWidth = innerWidth; fitAll(); drawMatrix(); } });

byId("path-words").textContent = path.alphas.length === 1
  ? `The penalty α = ${short(record.fit.alpha)} was given.`
  : record.fit.alpha === 0
    ? `The weaker the penalty (α) on links, the more of them; click a chart to see other graphs. The chosen graph has no penalty, so it is not on the charts (${chosenHow()}).`
    : `The weaker the penalty (α) on links, the more of them. The dashed line is the graph shown above (chosen: α = ${short(record.fit.alpha)}, ${chosenHow()}); click a chart to go elsewhere.`;
cy.style(style());
edgeTable();
variableTable();
rowTable();
checkTable();
factTables();
refresh();
fitAll();
const firstPicture = Math.round(performance.now());
drawCharts();
document.documentElement.dataset.picture = String(firstPicture);
document.documentElement.dataset.ready = String(Math.round(performance.now()));
// For those who look into the page with a console, and for its tests.
window.robscore = { state, picture: cy, record, hold, holdLink, moveTo, shownLinks, currentSvg, csv, label };
