// Charts of the rows and of the path of penalties.

const charts = [];
const marker = {
  id: "marker",
  afterDatasetsDraw(chart) {
    if (!chart.options.plugins.marker.shown || !path.alphas[ours().position]) return;
    const x = chart.scales.x.getPixelForValue(path.alphas[ours().position]);
    const { top, bottom } = chart.chartArea, ctx = chart.ctx;
    ctx.save();
    ctx.strokeStyle = colour("mark"); ctx.lineWidth = 2; ctx.setLineDash([5, 4]);
    ctx.beginPath(); ctx.moveTo(x, top); ctx.lineTo(x, bottom); ctx.stroke();
    ctx.restore();
  },
};
function axis(title, more = {}) {
  return { title: { display: true, text: title, color: colour("ink") }, ticks: { color: colour("soft"), maxRotation: 0 }, grid: { color: colour("line") }, ...more };
}
const alphaTicks = { color: colour("soft"), maxRotation: 0, callback: (value) => (/^[125](\.0*)?e/.test(Number(value).toExponential(6)) ? short(value, 1) : null) };
// Both charts of the path end where the graphs of the slider end; a graph without a penalty has no place on them.
const shownAlphas = graphs.map((graph) => path.alphas[graph.position]).filter((alpha) => alpha > 0), leastAlpha = Math.min(...shownAlphas);
function alphaAxis(alphas) { return axis("penalty α on links (log scale, decreasing: more links to the right)", { type: "logarithmic", reverse: true, min: Math.min(...alphas), max: Math.max(...alphas), ticks: { ...alphaTicks, color: colour("soft") } }); }
const inRange = ({ x }) => x >= leastAlpha * (1 - 1e-9);
function chart(id, label, config) {
  byId(id).setAttribute("aria-label", label);
  config.options = {
    animation: false, responsive: true, maintainAspectRatio: false, ...config.options,
    plugins: { legend: { labels: { color: colour("ink"), usePointStyle: true } }, marker: { shown: false }, ...config.options.plugins, title: { display: true, text: label, color: colour("ink"), align: "start", font: { size: 14 } } },
  };
  config.plugins = [marker];
  charts.push(new Chart(byId(id), config));
}
function drawCharts() {
  while (charts.length) charts.pop().destroy();
  rowChart();
  if (path.alphas.length > 1) { criterionChart(); associationChart(); } else for (const id of ["criterion-chart", "path-chart"]) byId(id).parentElement.hidden = true;
}
function rowChart() {
  const points = record.rows.points, finite = points.filter((p) => p[1] !== null).map((p) => p[1]).sort((a, b) => a - b);
  const usual = points.filter((p) => p[1] !== null && !p[2]).map((p) => p[1]);
  const low = finite[0] ?? 0, top = Math.max(...usual, low + 1e-9), cap = Math.max(top + 1.5 * (top - low), low + 1e-9);
  const labels = new Map(record.rows.listed.map((row) => [row.row, row]));
  const kind = (keep) => points.filter(keep).map(([x, y]) => ({ x, y: y === null ? cap : Math.min(y, cap), true: y }));
  const beyond = (p) => p[1] === null || p[1] > cap;
  chart("rows-chart", `${record.rows.n_flagged} of ${record.fit.n_rows_used} rows stand out`, {
    type: "scatter",
    data: { datasets: [
      { label: "fits", data: kind((p) => !p[2]), pointRadius: 2.5, backgroundColor: colour("both"), borderWidth: 0 },
      { label: "stands out", data: kind((p) => p[2] && !beyond(p)), pointRadius: 5, pointStyle: "rectRot", backgroundColor: colour("negative"), borderWidth: 0 },
      { label: "stands out, beyond the scale", data: kind((p) => p[2] && beyond(p)), pointRadius: 6, pointStyle: "triangle", backgroundColor: colour("negative"), borderWidth: 0 },
    ].filter((set) => set.data.length) },
    options: {
      scales: { x: axis("row"), y: axis("how unusual the row is", { suggestedMax: cap }) },
      plugins: { tooltip: { callbacks: { label: ({ raw }) => {
        const listed = labels.get(raw.x);
        return `row ${raw.x}${listed && listed.label !== null ? ` (${listed.label})` : ""}${listed && listed.variables ? `: ${listed.variables}` : ""}`;
      } } } },
    },
  });
}
function criterionChart() {
  const palette = ["positive", "negative", "mark"], dashes = [[], [7, 4], [2, 3]];
  const rules = Object.entries(path.criteria);
  const called = { f1: "1 − expected F1", ebic: "eBIC", cv: "held-out loss", stars: "instability" };
  const sets = rules.map(([name, values], k) => ({
    label: `${called[name]} (its own scale)`, yAxisID: `y${k}`, borderColor: colour(palette[k % 3]), backgroundColor: colour(palette[k % 3]), borderDash: dashes[k % 3],
    data: values.map((y, at) => ({ x: path.alphas[at], y })).filter(inRange), pointRadius: 2, borderWidth: 2, spanGaps: false,
  }));
  sets.push({ label: "links", yAxisID: "edges", borderColor: colour("both"), backgroundColor: colour("both"), data: path.alphas.map((x, at) => ({ x, y: path.n_edges[at] })).filter(inRange), pointRadius: 0, borderWidth: 2, stepped: false });
  const scales = { x: alphaAxis(shownAlphas), edges: axis("links", { position: "right", beginAtZero: true, grid: { drawOnChartArea: false } }) };
  rules.forEach(([name], k) => { scales[`y${k}`] = axis(`${called[name]} (smallest is best)`, { position: "left", display: k === 0 }); });
  chart("criterion-chart", rules.length ? `${called[rules[0][0]]} is smallest at ${count(path.n_edges[path.chosen], "link")}` : "Links by penalty", {
    type: "line", data: { datasets: sets },
    options: { scales, interaction: { mode: "nearest", axis: "x", intersect: false }, plugins: { marker: { shown: true } }, onClick: goTo },
  });
}
function associationChart() {
  const best = new Map();
  graphs.forEach((graph) => graph.pairs.forEach((pair, k) => best.set(pair, Math.max(best.get(pair) || 0, Math.abs(graph.associations[k])))));
  const pairs = [...best].sort((a, b) => b[1] - a[1]).slice(0, 40).map(([pair]) => pair);
  const maps = graphs.map(links);
  const line = (pair) => ({
    label: `${names[Math.floor(pair / m)]} – ${names[pair % m]}`, borderWidth: kept.has(pair) ? 1.8 : 1, pointRadius: 0, pointHitRadius: 6,
    borderColor: colour(kept.has(pair) ? "positive" : "both"), borderDash: kept.has(pair) ? [] : [4, 4], backgroundColor: colour(kept.has(pair) ? "positive" : "both"),
    data: graphs.map((graph, at) => ({ x: path.alphas[graph.position], y: maps[at].get(pair) || 0 })).filter(inRange),
  });
  const strongest = Math.min(pairs.length, 40);
  chart("path-chart", `How the ${strongest} strongest associations enter (solid: in the chosen graph)`, {
    type: "line", data: { datasets: pairs.map(line) },
    options: {
      scales: { x: alphaAxis(shownAlphas), y: axis("association") }, interaction: { mode: "nearest", intersect: false },
      plugins: { legend: { display: false }, marker: { shown: true }, tooltip: { callbacks: { title: () => "", label: ({ dataset, raw }) => `${dataset.label}: ${signed(raw.y)} at α = ${short(raw.x)}` } } },
      onClick: goTo,
    },
  });
}
function goTo(event, _, drawn) {
  const alpha = drawn.scales.x.getValueForPixel(event.x);
  let best = 0;
  graphs.forEach((graph, k) => { if (Math.abs(Math.log(path.alphas[graph.position] / alpha)) < Math.abs(Math.log(path.alphas[graphs[best].position] / alpha))) best = k; });
  moveTo(best);
}
