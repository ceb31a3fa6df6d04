// What the page shows: the data, which comes from the element #content, the graphs shown now, and small helpers.
// Every name is shown as text, never as HTML.

const { record, layouts } = JSON.parse(document.getElementById("content").textContent);
const names = record.names, m = names.length, path = record.path, graphs = path.graphs;
const classic = record.classic;
const chosen = graphs.findIndex((graph) => graph.position === path.chosen);
const byId = (id) => document.getElementById(id);
const exact = new Map(record.edges.map(([i, j, interaction]) => [i * m + j, interaction]));
const state = { at: chosen, held: null, beside: classic !== null, layout: layouts.map ? "map" : "network" };
const short = (x, digits = 3) => (x === null || x === undefined ? "–" : Number(x).toPrecision(digits).replace(/\.?0+(e|$)/, "$1"));
const signed = (x) => (x >= 0 ? "+" : "−") + Math.abs(x).toFixed(2);
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

function element(tag, text, attributes = {}) {
  const made = document.createElement(tag);
  if (text !== null && text !== undefined) made.textContent = text;
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

// --- what is shown now -------------------------------------------------------------------------------------------
const ours = () => graphs[state.at];
const theirs = () => (classic ? classic.graphs[classic.beside[state.at]] : { pairs: [], associations: [] });
const links = (graph) => new Map(graph.pairs.map((pair, k) => [pair, graph.associations[k]]));
let here = links(ours()), there = links(theirs());

function neighbours(node, map) {
  const found = [];
  for (const [pair, strength] of map) {
    const i = Math.floor(pair / m), j = pair % m;
    if (i === node || j === node) found.push([i === node ? j : i, strength]);
  }
  return found.sort((a, b) => Math.abs(b[1]) - Math.abs(a[1]));
}
