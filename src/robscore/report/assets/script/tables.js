// Captions, the legend, and the tables of edges, rows and facts.

const count = (n, one, many = `${one}s`) => `${n} ${n === 1 ? one : many}`;
function captions() {
  const classicFit = record.fit.n_blocks === 1 && record.fit.share_dropped === null;
  byId("robust-caption").textContent = `${classicFit ? "Classic" : "Robust"}: ${count(here.size, "edge")}`;
  if (classic) {
    const shared = [...here.keys()].filter((pair) => there.has(pair)).length;
    byId("classic-caption").textContent = `Classic: ${count(there.size, "edge")}, ${shared} of them in the robust graph`;
  }
  const alpha = path.alphas[ours().position];
  byId("penalty-words").textContent = `α = ${short(alpha)}, ${count(here.size, "edge")}` + (state.at === chosen ? ` (${record.fit.selection})` : "");
  byId("penalty").setAttribute("aria-valuetext", byId("penalty-words").textContent);
  byId("to-chosen").disabled = state.at === chosen;
  for (const id of ["robust", "classic"]) {
    byId(id).setAttribute("role", "application");
    byId(id).setAttribute("aria-label", `The ${id} graph: ${count(id === "robust" ? here.size : there.size, "edge")} between ${m} variables. Arrow keys walk through them.`);
  }
}
function legend() {
  const box = byId("legend");
  const kinds = state.beside && classic
    ? [["both", "solid", "in both graphs"], ["only", "solid", "only in the robust graph"], ["classic", "dashed", "only in the classic graph"]]
    : [["positive", "solid", "positive association"], ["negative", "dashed", "negative association"]];
  box.replaceChildren(...kinds.map(([name, dash, words]) => {
    const item = element("span", null);
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    svg.setAttribute("width", "34"); svg.setAttribute("height", "8");
    const line = document.createElementNS("http://www.w3.org/2000/svg", "line");
    for (const [key, value] of Object.entries({ x1: 1, y1: 4, x2: 33, y2: 4, "stroke-width": 3, style: `stroke: var(--${name})` })) line.setAttribute(key, value);
    if (dash === "dashed") line.setAttribute("stroke-dasharray", "7 4");
    svg.append(line);
    item.append(svg, document.createTextNode(words));
    return item;
  }), element("span", "Thicker is stronger."));
}

function fillTable(table, columns, rows, rowFor) {
  const head = element("tr"), body = table.tBodies[0];
  let by = null, up = false;
  function fill() {
    const sorted = by === null ? rows : [...rows].sort((a, b) => {
      const [x, y] = [columns[by].key(a), columns[by].key(b)];
      return (x < y ? -1 : x > y ? 1 : 0) * (up ? 1 : -1);
    });
    body.replaceChildren(...sorted.map((row) => {
      const line = rowFor ? rowFor(row) : element("tr");
      for (const column of columns) line.append(element("td", column.text(row), column.number ? { class: "number" } : {}));
      return line;
    }));
  }
  columns.forEach((column, k) => {
    const cell = element("th", null, column.number ? { class: "number", scope: "col" } : { scope: "col" });
    const button = element("button", column.title, { type: "button", title: `Sort by ${column.title}` });
    button.addEventListener("click", () => {
      up = by === k ? !up : !column.number;
      by = k;
      for (const other of head.cells) other.removeAttribute("aria-sort");
      cell.setAttribute("aria-sort", up ? "ascending" : "descending");
      fill();
    });
    cell.append(button);
    head.append(cell);
  });
  table.tHead.replaceChildren(head);
  fill();
}

const MOST_ROWS = 500;
function edgeTable() {
  const rows = [...here].map(([pair, strength]) => ({ pair, strength, i: Math.floor(pair / m), j: pair % m }))
    .sort((a, b) => Math.abs(b.strength) - Math.abs(a.strength));
  const columns = [
    { title: "variable", text: (row) => names[row.i], key: (row) => names[row.i] },
    { title: "variable", text: (row) => names[row.j], key: (row) => names[row.j] },
    { title: "association", number: true, text: (row) => signed(row.strength), key: (row) => Math.abs(row.strength) },
  ];
  if (state.at === chosen) columns.push({ title: "interaction K", number: true, text: (row) => short(exact.get(row.pair), 4), key: (row) => Math.abs(exact.get(row.pair)) });
  if (classic) columns.push({ title: "classic", text: (row) => (there.has(row.pair) ? "too" : "not"), key: (row) => (there.has(row.pair) ? 1 : 0) });
  fillTable(byId("edges"), columns, rows.slice(0, MOST_ROWS), (row) => {
    const line = element("tr", null, { tabindex: "0", "data-pair": row.pair });
    const show = () => hold(row.i);
    line.addEventListener("click", show);
    line.addEventListener("keydown", (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); show(); } });
    return line;
  });
  const more = rows.length > MOST_ROWS ? ` The strongest ${MOST_ROWS} are listed; edges.csv has all.` : "";
  const proper = rows.every((row) => Math.abs(row.strength) <= 1)
    ? "between −1 and 1, positive where two variables rise together given all others"
    : "some lie beyond ±1, because K has a diagonal that does not fit; do not rely on their size";
  byId("edges-words").textContent = rows.length ? `Association is −K_ij / √(K_ii K_jj): ${proper}.${more}` : "There is none at this penalty.";
}

function rowTable() {
  const { rows, fit } = record, labelled = rows.listed.some((row) => row.label !== null);
  const columns = [{ title: "row", number: true, text: (row) => row.row, key: (row) => row.row }];
  if (labelled) columns.push({ title: record.data.label_name || "label", text: (row) => row.label, key: (row) => row.label });
  columns.push(
    { title: "surprise", number: true, text: (row) => (row.score === null ? "beyond measure" : short(row.score, 4)), key: (row) => (row.score === null ? Infinity : row.score) },
    { title: "p-value", number: true, text: (row) => short(row.p_value, 2), key: (row) => row.p_value },
    { title: "weight", number: true, text: (row) => row.weight.toFixed(2), key: (row) => row.weight },
    { title: "what stands out", text: (row) => row.variables, key: (row) => row.variables },
  );
  fillTable(byId("rows"), columns, rows.listed, (row) => element("tr", null, row.flagged ? { class: "flagged" } : {}));
  const tested = rows.listed.some((row) => row.p_value !== null);
  byId("rows-words").textContent = (tested
    ? `${rows.n_flagged} of ${fit.n_rows_used} rows are so surprising (−log density) that of good rows at most ${100 * rows.level} % would be.`
    : `${rows.n_flagged} of ${fit.n_rows_used} rows stand out from the others by their surprise (−log density); the fit cannot be sampled, so there is no p-value.`)
    + " Rows are numbered from 1, the first after the names. Weight 1 is a full row, 0 counts for nothing."
    + (rows.listed.length < rows.n_flagged ? ` The first ${rows.listed.length} are listed; rows.csv has all.` : "");
}

function factTables() {
  const { fit } = record, facts = {
    rows: `${fit.n_rows_used} of ${fit.n_rows} used, worth ${fit.effective_rows[0].toFixed(0)} equal ones`,
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
    row.append(element("td", name), element("td", value === null ? "–" : Array.isArray(value) ? `${value.length} values` : String(value)));
    return row;
  }));
  fill("facts", facts);
  fill("settings", record.settings);
  byId("remarks").replaceChildren(...record.remarks.map((words) => element("p", words)));
}
