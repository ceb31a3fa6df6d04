// What stands under the picture, all of it about the chosen graph: links, variables, rows, the check, the facts.

const MOST_ROWS = 500;
function edgeTable() {
  const rows = [...kept].map(([pair, strength]) => ({ pair, strength, i: ends(pair)[0], j: ends(pair)[1], test: tested.get(pair) }))
    .sort((a, b) => Math.abs(b.strength) - Math.abs(a.strength));
  const some = rows.slice(0, MOST_ROWS), known = some.some((row) => row.test);
  const reach = Math.max(0.1, ...some.flatMap(({ test }) => (test && test.low !== null ? [Math.abs(test.low), Math.abs(test.high)] : [])));
  const limit = Math.min(reach, 1), least = (row, name) => (row.test && row.test[name] !== null ? row.test[name] : 2);
  const columns = [
    { title: "variable", text: (row) => names[row.i], key: (row) => names[row.i] },
    { title: "variable", text: (row) => names[row.j], key: (row) => names[row.j] },
    { title: "association", about: "How strongly the two move together (+) or against each other (−), given all others; as drawn", number: true, text: (row) => signed(row.strength), key: (row) => Math.abs(row.strength) },
  ];
  if (known) {
    columns.push(
      { title: `${Math.round(100 * sure.level)} % interval`, about: "Estimate without shrinkage, and a range: that percentage of such ranges contains the truth", number: true, text: ({ test }) => (test && test.estimate !== null ? `${signed(test.estimate)} (${signed(test.low)} to ${signed(test.high)})` : "–"), key: ({ test }) => (test ? Math.abs(test.estimate) : -1) },
      { title: `from ${signed(-limit)} to ${signed(limit)}`, picture: ({ test }) => interval(test || { estimate: null }, limit) },
      { title: "p", about: "p-value: how often chance alone would give as clear a link, if there were none", number: true, text: ({ test }) => (test ? probability(test.p) : "–"), key: (row) => -least(row, "p") },
      { title: "q", about: "q-value: the share of false links to expect among all that are at least as clear", number: true, text: ({ test }) => (test ? probability(test.q) : "–"), key: (row) => -least(row, "q") },
    );
    if (isLatent) columns.push({ title: "worth", about: "How many rows of measurements would say as much about the pair: answers, zeros and two values say less", number: true, text: ({ test }) => (test && test.worth !== null ? `${Math.round(test.worth)} rows` : "–"), key: ({ test }) => (test ? test.worth : -1) });
  }
  if (halves) columns.push({ title: "comes back", about: "Share of fits to half of the rows that have the link", number: true, text: (row) => `${Math.round(100 * (halves.get(row.pair) || 0))} %`, key: (row) => halves.get(row.pair) || 0 });
  if (classic) {
    const other = links(classic.graphs[classic.beside[chosen]]);
    columns.push({ title: "in classic", about: "Whether classic score matching, which counts every row equally, has the link too", text: (row) => (other.has(row.pair) ? "yes" : "no"), key: (row) => (other.has(row.pair) ? 1 : 0) });
  }
  const filter = fillTable("edges", columns, some, (row) => {
    const line = element("tr", null, { "data-pair": row.pair });
    line.addEventListener("click", () => holdLink(row.pair));
    return line;
  });
  byId("edge-filter").addEventListener("input", (event) => {
    const left = filter(event.target.value);
    byId("edge-count").textContent = event.target.value.trim() ? (left ? `${left} of ${some.length}` : "no match") : "";
    marked();
  });
  byId("edges-words").textContent = edgeWords(rows, known);
}
function edgeWords(rows, known) {
  if (!rows.length) return "The graph has no links.";
  const beyond = rows.some((row) => Math.abs(row.strength) > 1) ? " Some associations lie beyond ±1, because the fit is poor; do not rely on their size." : " Associations lie between −1 and 1.";
  const latent = isLatent ? " They are those of latent numbers, one behind every value." : "";
  const why = sure && sure.why_not ? ` There are no intervals: ${sure.why_not}` : "";
  const half = known && sure.split ? " One half of the rows chose the links that the other half tested; links that the first half did not choose have no interval." : "";
  const more = rows.length > MOST_ROWS ? ` The strongest ${MOST_ROWS} are listed.` : "";
  return `Hover over a heading for what it means, click it to sort, click a row to see the link in the picture.${beyond}${latent}${half}${why}${more}`;
}
function variableTable() {
  const rows = names.map((name, node) => ({ node, name })), most = Math.max(1e-9, ...central.strength), told = record.predictability;
  const columns = [
    { title: "variable", text: (row) => row.name, key: (row) => row.name },
    { title: "links", about: "How many variables it is linked to (degree)", number: true, text: (row) => central.degree[row.node], key: (row) => central.degree[row.node] },
    { title: "strength", about: "Sum of the sizes of its associations", number: true, text: (row) => short(central.strength[row.node], 3), key: (row) => central.strength[row.node] },
    { title: "of the strongest", picture: (row) => bar(central.strength[row.node] / most) },
    { title: "betweenness", about: "Share of the shortest paths between two others that lead through it; strong links are short", number: true, text: (row) => short(central.betweenness[row.node], 2), key: (row) => central.betweenness[row.node] },
    { title: "community", about: "Variables that are linked more with each other than with the rest have the same number", number: true, text: (row) => (central.community[row.node] < 0 ? "–" : central.community[row.node] + 1), key: (row) => -central.community[row.node] },
  ];
  if (record.kinds) {
    const kinds = record.kinds.columns, kind = (row) => kinds[row.node][0], values = (row) => kinds[row.node][1];
    columns.splice(1, 0, { title: "kind", about: "What its values are: continuous, rounded, two values, answers, counts, or one value in many rows (zeros)", text: kind, key: kind });
    if (kinds.some((own) => own[1])) columns.splice(2, 0, { title: "values", about: "The answers in their order, or the value that many rows have", text: (row) => values(row) || "–", key: values });
  }
  if (record.groups) columns.push({ title: "group", text: (row) => record.groups[row.node] || "–", key: (row) => record.groups[row.node] });
  if (told) columns.push(
    { title: "predicted", about: `How well its neighbours predict it in rows that were held out: 0 not at all, 1 exactly (R² for Gaussian rows)${isLatent ? "; R² of latent numbers, and of two values how much better they are guessed than always the more frequent" : ""}`, number: true, text: (row) => told[row.node].toFixed(2), key: (row) => told[row.node] },
    { title: "from 0 to 1", picture: (row) => bar(told[row.node]) },
  );
  fillTable("variables", columns, rows, (row) => {
    const line = element("tr", null, { "data-node": row.node });
    line.addEventListener("click", () => hold(row.node));
    return line;
  });
  const best = central.strength.indexOf(Math.max(...central.strength)), groups = new Set(central.community.filter((k) => k >= 0)).size;
  byId("variables-words").textContent = kept.size
    ? `${names[best]} has the strongest links overall. The linked variables fall into ${count(groups, "community", "communities")}; “Colour variables by” shows them in the picture.`
    : "No variable has a link.";
}
function rowTable() {
  const { rows } = record, labelled = rows.listed.some((row) => row.label !== null);
  const columns = [{ title: "row", number: true, text: (row) => row.row, key: (row) => row.row }];
  if (labelled) columns.push({ title: record.data.label_name || "label", text: (row) => row.label, key: (row) => row.label });
  columns.push(
    { title: "what stands out", about: "Its values, and between which values 95 % of the rows lie", text: (row) => row.variables, key: (row) => row.variables },
    { title: "stands out", text: (row) => (row.flagged ? "yes" : "no"), key: (row) => Number(row.flagged) },
    { title: "p", about: "Share of rows drawn from the model that are at least as unusual", number: true, text: (row) => probability(row.p_value), key: (row) => row.p_value },
    { title: "weight", about: "1 is a row that counts in full, 0 one that is left out", number: true, text: (row) => row.weight.toFixed(2), key: (row) => row.weight },
  );
  fillTable("rows", columns, rows.listed);
}
function checkTable() {
  const check = record.check, shown = check && check.columns.length > 0;
  byId("check").closest(".scroll").hidden = !shown;
  document.querySelector("[data-save=check]").parentElement.hidden = !shown;
  if (!shown) return;
  const rows = check.columns.map(([shape, dependence, p, misses], node) => ({ name: names[node], shape, dependence, p, misses }));
  const [first, second] = isLatent
    ? [["joint extremes", "extremes it has in common with another"], ["bends", "how it first rises and then falls with another"]]
    : [["its own values", "how its values are distributed, given the others"], ["its dependence", "how it depends on the others"]];
  const about = ([, what]) => `z-score of what the model misses of ${what}; beyond ±3 is clear`;
  fillTable("check", [
    { title: "variable", text: (row) => row.name, key: (row) => row.name },
    { title: first[0], about: about(first), number: true, text: (row) => short(row.shape, 2), key: (row) => Math.abs(row.shape) },
    { title: second[0], about: about(second), number: true, text: (row) => short(row.dependence, 2), key: (row) => Math.abs(row.dependence) },
    { title: "p", about: "p-value of the test that nothing is missed", number: true, text: (row) => probability(row.p), key: (row) => -row.p },
    { title: "what is missed", text: (row) => row.misses || "–", key: (row) => row.misses },
  ], rows);
}
function factTables() {
  const { fit } = record, facts = {
    rows: `${fit.n_rows_used} of ${fit.n_rows} used, effective sample size ${fit.effective_rows[0].toFixed(0)}`,
    reweighting: fit.reweighting || "none", family: fit.family,
    blocks: fit.share_dropped !== null ? "none: rows are weighed one by one" : fit.n_blocks === 1 ? "1, classic score matching" : fit.n_blocks,
    penalty: `α = ${short(fit.alpha, 4)}, ${fit.selection}`,
    converged: fit.converged ? "yes" : "NO",
    optimality: `${short(fit.kkt, 2)} of α_max off the optimum, after ${count(fit.n_iter, "sweep")}`,
    path: `${path.converged.filter(Boolean).length} of ${path.alphas.length} penalties converged`,
  };
  if (record.data.file) { facts.data = record.data.file; facts["SHA-256"] = record.data.sha256; }
  facts.libraries = Object.entries({ robscore: record.version, ...record.libraries }).map(([name, version]) => `${name} ${version}`).join(", ");
  const fill = (id, pairs) => byId(id).tBodies[0].replaceChildren(...Object.entries(pairs).map(([name, value]) => {
    const row = element("tr");
    row.append(element("td", name), element("td", value === null ? "–" : Array.isArray(value) ? `${value.length} values` : typeof value === "object" ? Object.entries(value).map((pair) => pair.join(": ")).join(", ") : String(value)));
    return row;
  }));
  fill("facts", facts);
  fill("settings", record.settings);
  byId("remarks").replaceChildren(...record.remarks.map((words) => element("p", words)));
}
