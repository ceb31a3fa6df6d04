// Hovering over the picture, holding a variable or a link, searching for variables.

const tip = byId("tip");
function showTip(event, text) {
  tip.textContent = text;
  tip.hidden = false;
  const { clientX: x, clientY: y } = event.originalEvent, box = tip.getBoundingClientRect();
  tip.style.left = `${Math.max(8, Math.min(x + 14, innerWidth - box.width - 8))}px`;
  tip.style.top = `${y + 14 + box.height > innerHeight - 8 ? Math.max(8, y - box.height - 10) : y + 14}px`;
}
const hideTip = () => { tip.hidden = true; };
function nodeWords(node) {
  const list = neighbours(node).map(([other, strength]) => `${names[other]} (${signed(strength)})`);
  const more = list.length > 8 ? ` and ${list.length - 8} more` : "";
  return `${names[node]}: ` + (list.length ? `linked to ${list.slice(0, 8).join(", ")}${more}` : "no links shown");
}
function linkWords(pair) {
  const [i, j] = ends(pair), strength = state.method !== "classic" && here.has(pair) ? here.get(pair) : there.has(pair) ? there.get(pair) : kept.get(pair);
  const lines = [`${names[i]} – ${names[j]}`, `association ${signed(strength)}: ${strength > 0 ? "they rise and fall together" : "they move against each other"}, given all others`];
  const test = tested.get(pair);
  if (test && test.q !== null) lines.push(`without shrinkage ${signed(test.estimate)} (${signed(test.low)} to ${signed(test.high)}), q = ${probability(test.q)}`);
  if (halves) lines.push(`found in ${Math.round(100 * (halves.get(pair) || 0))} % of the fits to half of the rows`);
  if (classic) lines.push(here.has(pair) && there.has(pair) ? "in the robust and the classic graph" : here.has(pair) ? "only in the robust graph" : there.has(pair) ? "only in the classic graph" : "not in this graph");
  return lines.join("\n");
}
function marked() {
  for (const row of byId("edges").tBodies[0].rows) {
    const pair = Number(row.dataset.pair);
    row.classList.toggle("held", state.link === pair || (state.held !== null && ends(pair).includes(state.held)));
  }
  for (const row of byId("variables").tBodies[0].rows) row.classList.toggle("held", Number(row.dataset.node) === state.held);
}
function hold(node) {
  [state.held, state.link] = [node, null];
  highlight();
  byId("told").textContent = node === null ? "" : nodeWords(node);
  marked();
}
function holdLink(pair) {
  [state.held, state.link] = [null, pair];
  highlight();
  byId("told").textContent = linkWords(pair).split("\n").join("; ");
  marked();
  const row = byId("edges").querySelector(`tr[data-pair="${pair}"]`), box = row && row.closest(".scroll");
  if (row) box.scrollTop = row.offsetTop - box.clientHeight / 2;
}
cy.on("mouseover", "node[name]", (event) => {
  const node = event.target.data("node");
  showTip(event, nodeWords(node));
  if (state.held === null && state.link === null) highlight(node);
});
cy.on("mouseout", "node", () => { hideTip(); highlight(); });
cy.on("mouseover", "edge.link", (event) => showTip(event, linkWords(event.target.data("pair"))));
cy.on("mouseout", "edge", hideTip);
cy.on("drag", "node", (event) => { if (event.originalEvent) showTip(event, nodeWords(event.target.data("node"))); });
cy.on("tap", (event) => {
  if (event.target === cy) hold(null);
  else if (event.target.isEdge() && event.target.data("pair") !== undefined) holdLink(event.target.data("pair"));
  else if (event.target.isNode() && event.target.data("node") !== undefined) hold(event.target.data("node"));
});
const box = byId("graph");
box.addEventListener("mouseleave", () => { hideTip(); highlight(); state.active = false; });
box.addEventListener("keydown", (event) => {
  const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
  if (step) { event.preventDefault(); hold(state.held === null ? (step > 0 ? 0 : m - 1) : (state.held + step + m) % m); }
  if (event.key === "Escape") hold(null);
});
// The page scrolls over the picture: the wheel zooms with Ctrl or after a click, one finger does not pull at it.
state.active = false;
box.parentElement.addEventListener("wheel", (event) => {
  if (box.contains(event.target) && !(event.ctrlKey || event.metaKey || state.active)) event.stopImmediatePropagation();
}, { capture: true, passive: true });
box.parentElement.addEventListener("mousedown", (event) => { if (box.contains(event.target)) state.active = true; }, true);
for (const kind of ["touchstart", "touchmove", "touchend"]) {
  box.parentElement.addEventListener(kind, (event) => {
    if (box.contains(event.target) && event.touches.length < 2 && !state.pinching) event.stopImmediatePropagation();
    state.pinching = event.touches.length > 1;
  }, { capture: true, passive: true });
}
const search = byId("search");
function find() {
  const wanted = search.value.trim().toLowerCase();
  state.found = wanted ? names.map((name, node) => [name.toLowerCase(), node]).filter(([name]) => name.includes(wanted)).map(([, node]) => node) : null;
  if (state.found && state.found.length === 1) hold(state.found[0]);
  else { hold(null); highlight(); }
  if (state.found && state.found.length > 1) byId("told").textContent = `Found: ${state.found.slice(0, 12).map((node) => names[node]).join(", ")}${state.found.length > 12 ? ", …" : ""}`;
  byId("found").textContent = !wanted ? "" : state.found.length ? `${state.found.length} found` : "no match";
}
search.addEventListener("input", find);
search.addEventListener("keydown", (event) => { if (event.key === "Escape") { search.value = ""; find(); } });
