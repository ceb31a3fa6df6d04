// What the page shows: the data, which comes from the element #content, the graphs shown now, and small helpers.
// Every name is shown as text, never as HTML.

const { record, layouts, central, order } = JSON.parse(document.getElementById("content").textContent);
const names = record.names, m = names.length, path = record.path, graphs = path.graphs;
const classic = record.classic, sure = record.certainty, isLatent = record.fit.family.startsWith("GaussianCopula(");
const chosen = graphs.findIndex((graph) => graph.position === path.chosen);
const byId = (id) => document.getElementById(id);
const state = {
  at: chosen, held: null, link: null, found: null, method: "robust", view: "graph",
  layout: layouts.map ? "map" : "network", threshold: { kind: "strength", at: 0 }, colour: "none",
};
const count = (n, one, many = `${one}s`) => `${n} ${n === 1 ? one : many}`;
const short = (x, digits = 3) => (x === null || x === undefined ? "–" : Number(x).toPrecision(digits).replace(/(\.\d*?)0+(?=e|$)/, "$1").replace(/\.(?=e|$)/, ""));
// Never "-0.00": what two decimals cannot show is written to one digit.
const signed = (x) => (x === null || x === undefined ? "–" : x === 0 ? "0" : (x > 0 ? "+" : "−") + (Math.abs(x) >= 0.005 ? Math.abs(x).toFixed(2) : Number(Math.abs(x).toPrecision(1))));
const probability = (p) => (p === null || p === undefined ? "–" : p < 0.0001 ? "< 0.0001" : p.toFixed(p < 0.01 ? 4 : 3));
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
const ends = (pair) => [Math.floor(pair / m), pair % m];
// A text of at most so many signs, without its middle; a share of what is left is its end.
function cut(text, most, share) {
  const signs = [...text], tail = most > 4 ? Math.floor((most - 1) * share) : 0;
  return signs.length <= most ? text : `${signs.slice(0, Math.max(1, most - 1 - tail)).join("").trimEnd()}…${tail ? signs.slice(-tail).join("").trimStart() : ""}`;
}
// Where names are cut: such that as many as possible stay different, in the middle if it is all one.
const shares = new Map();
function clip(text, most) {
  if (!shares.has(most)) {
    const different = [0.5, 0.25, 0, 0.75].map((share) => [share, new Set(names.map((name) => cut(name, most, share))).size]);
    shares.set(most, different.reduce((best, one) => (one[1] > best[1] ? one : best))[0]);
  }
  return cut(text, most, shares.get(most));
}

// Names to stand in the picture: without a long beginning that all share, which would leave only that of them.
const called = (() => {
  const full = names.map((name) => name.trim() || name), most = 60;
  if (!full.every((name) => [...name].length > most)) return full;
  let common = full[0];
  for (const name of full) while (!name.startsWith(common)) common = common.slice(0, -1);
  common = common.split(" ").slice(0, -2).join(" ");  // but for the word before that which differs
  return common.length > most / 3 ? full.map((name) => `…${name.slice(common.length).trimStart()}`) : full;
})();

function element(tag, text, attributes = {}) {
  const made = document.createElement(tag);
  if (text !== null && text !== undefined) made.textContent = text;
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}
function drawn(tag, attributes = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

// --- what is shown now -------------------------------------------------------------------------------------------
const tested = new Map((sure ? sure.pairs : []).map(([i, j, estimate, low, high, p, q, worth]) => [i * m + j, { estimate, low, high, p, q, worth }]));
const halves = sure && sure.stability ? new Map(sure.stability.pairs.map(([i, j, share]) => [i * m + j, share])) : null;
const links = (graph) => new Map(graph.pairs.map((pair, k) => [pair, graph.associations[k]]));
const ours = () => graphs[state.at];
const theirs = () => (classic ? classic.graphs[classic.beside[state.at]] : { pairs: [], associations: [] });
const kept = links(graphs[chosen]);
let here = links(ours()), there = links(theirs());

// Thresholds of the slider, from "hide nothing" on.
const strongest = Math.max(0, ...graphs.flatMap((graph) => graph.associations.map(Math.abs)));
const steps = {
  strength: Array.from({ length: 41 }, (_, k) => (Math.min(strongest, 1) * k) / 40),
  certainty: [1, 0.5, 0.2, 0.1, 0.05, 0.01, 0.001, 0.0001],
};
const threshold = () => steps[state.threshold.kind][state.threshold.at];
function passes(pair, strength) {
  if (state.threshold.at === 0) return true;
  if (state.threshold.kind === "strength") return Math.abs(strength) >= threshold();
  const test = tested.get(pair);
  return test !== undefined && test.q !== null && test.q <= threshold();
}
// Links of the picture as [pair, strength, in which graph].
function shownLinks() {
  const all = [];
  if (state.method !== "classic") for (const [pair, strength] of here) all.push([pair, strength, there.has(pair) ? "both" : "only"]);
  if (state.method !== "robust") for (const [pair, strength] of there) if (state.method === "classic" || !here.has(pair)) all.push([pair, strength, here.has(pair) ? "both" : "classic"]);
  return all.filter(([pair, strength]) => passes(pair, strength));
}
function neighbours(node) {
  return shownLinks().filter(([pair]) => ends(pair).includes(node))
    .map(([pair, strength]) => [ends(pair)[0] === node ? ends(pair)[1] : ends(pair)[0], strength])
    .sort((a, b) => Math.abs(b[1]) - Math.abs(a[1]));
}
// Okabe and Ito's colours, and then others, for communities and groups.
const palette = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#8c6bb1", "#7f7f7f", "#b2df8a", "#a6761d", "#1b9e77"];
const groupNames = record.groups ? [...new Set(record.groups.filter(Boolean))] : [];
function nodeColour(node) {
  const number = state.colour === "community" ? central.community[node] : state.colour === "group" ? groupNames.indexOf(record.groups[node]) : -1;
  return number < 0 ? colour("node") : palette[number % palette.length];
}
