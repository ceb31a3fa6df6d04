// Hovering over the pictures, holding a variable, searching for one.

const tip = byId("tip");
function showTip(event, text) {
  tip.textContent = text;
  tip.hidden = false;
  const { clientX: x, clientY: y } = event.originalEvent, box = tip.getBoundingClientRect();
  tip.style.left = `${Math.min(x + 14, innerWidth - box.width - 8)}px`;
  tip.style.top = `${Math.min(y + 14, innerHeight - box.height - 8)}px`;
}
function nodeWords(node) {
  const list = neighbours(node, here).map(([other, strength]) => `${names[other]} (${signed(strength)})`);
  return `${names[node]}: ` + (list.length ? `linked to ${list.join(", ")}` : "no links at this penalty");
}
function linkWords(pair, method) {
  const own = method === "robust" ? here : there, other = method === "robust" ? there : here;
  const lines = [`${names[Math.floor(pair / m)]} – ${names[pair % m]}`, `association ${signed(own.get(pair))}`];
  if (classic && state.beside) lines.push(other.has(pair) ? "in both graphs" : `only in the ${method} graph`);
  return lines.join("\n");
}
function hold(node) {
  state.held = node;
  highlight();
  byId("told").textContent = node === null ? "" : nodeWords(node);
  for (const row of byId("edges").tBodies[0].rows) {
    const pair = Number(row.dataset.pair);
    row.classList.toggle("held", node !== null && (Math.floor(pair / m) === node || pair % m === node));
  }
}
for (const [method, cy] of Object.entries(pictures)) {
  cy.on("mouseover", "node", (event) => {
    const node = event.target.data("node");
    if (node === undefined) return;
    showTip(event, nodeWords(node));
    if (state.held === null) highlight(node);
  });
  cy.on("mouseout", "node", () => { tip.hidden = true; highlight(); });
  cy.on("mouseover", "edge.link", (event) => showTip(event, linkWords(event.target.data("pair"), method)));
  cy.on("mouseout", "edge", () => { tip.hidden = true; });
  cy.on("tap", (event) => {
    if (event.target === cy) hold(null);
    else if (event.target.isNode() && event.target.data("node") !== undefined) hold(event.target.data("node"));
  });
  byId(method).addEventListener("mouseleave", () => { tip.hidden = true; highlight(); });
  byId(method).addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (step) { event.preventDefault(); hold(state.held === null ? (step > 0 ? 0 : m - 1) : (state.held + step + m) % m); }
    if (event.key === "Escape") hold(null);
  });
}
const search = byId("search");
for (const name of names) byId("names").append(element("option", null, { value: name }));
function find() {
  const wanted = search.value.trim().toLowerCase();
  if (!wanted) return hold(null);
  const lower = names.map((name) => name.toLowerCase());
  let node = lower.indexOf(wanted);
  if (node < 0) node = lower.findIndex((name) => name.startsWith(wanted));
  if (node < 0) node = lower.findIndex((name) => name.includes(wanted));
  hold(node < 0 ? null : node);
  if (node < 0) byId("told").textContent = `No variable is named like “${search.value}”.`;
  return undefined;
}
search.addEventListener("input", find);
search.addEventListener("keydown", (event) => { if (event.key === "Escape") { search.value = ""; hold(null); } });
