"use strict";
// The page of a robscore report. Data comes from the element #content; every name is shown as text, never as HTML.
(() => {
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

  // --- the two pictures --------------------------------------------------------------------------------------------
  const labelSize = 12;

  function style() {
    const text = colour("ink"), panel = colour("panel");
    return [
      {
        selector: "node[name]",
        style: {
          label: "data(label)", width: 12, height: 12, "background-color": colour("node"), "border-width": 1.6,
          "border-color": colour("node-line"), color: text, "font-size": labelSize, "text-outline-color": panel,
          "text-outline-width": 2, "min-zoomed-font-size": 7, "text-halign": "data(across)", "text-valign": "data(up)",
          "text-margin-x": "data(shiftX)", "text-margin-y": "data(shiftY)", "overlay-opacity": 0,
        },
      },
      { selector: "node[name][!placed]", style: { "text-opacity": 0, "text-outline-opacity": 0 } },
      { selector: "node.line", style: { width: 0.1, height: 0.1, opacity: 0, events: "no" } },
      { selector: "edge.line", style: { width: 2.5, "line-color": text, opacity: 0.55, events: "no", "curve-style": "straight" } },
      {
        selector: "edge.link",
        style: {
          width: "data(width)", "line-color": (edge) => colour(edge.data("colour")), "line-style": "data(dash)",
          opacity: 0.85, "curve-style": "straight", "overlay-opacity": 0,
        },
      },
      { selector: "node.far", style: { opacity: 0.4, "text-opacity": 0.3 } },
      { selector: "edge.link.far", style: { opacity: 0.13 } },
      {
        selector: "node.near",
        style: { "text-opacity": 1, "text-outline-opacity": 1, "min-zoomed-font-size": 0, "z-index": 20 },
      },
      { selector: "node.held", style: { "background-color": colour("mark"), width: 17, height: 17, "font-weight": "bold", "z-index": 30 } },
      { selector: "edge.link.near", style: { opacity: 1, "z-index": 19 } },
    ];
  }

  function nodeData(node) {
    const side = layouts[state.layout].sides[node], [right, up] = side || [1, 0];
    const both = right && up ? 0.55 : 1;
    return {
      id: `n${node}`, node, name: names[node], label: names[node].length > 28 ? `${names[node].slice(0, 27)}…` : names[node], placed: side ? 1 : 0,
      across: right > 0 ? "right" : right < 0 ? "left" : "center", up: up > 0 ? "top" : up < 0 ? "bottom" : "center",
      shiftX: 3 * right * both, shiftY: -2 * up * both,
    };
  }

  function makeGraph(container) {
    const layout = layouts[state.layout];
    const cy = cytoscape({
      container, style: style(), layout: { name: "preset" }, minZoom: 0.05, maxZoom: 8, boxSelectionEnabled: false,
      selectionType: "single", autounselectify: true,
      elements: names.map((_, node) => {
        const [x, y] = layout.places[node];
        return { group: "nodes", data: nodeData(node), position: { x, y } };
      }),
    });
    return cy;
  }

  const pictures = { robust: makeGraph(byId("robust")) };
  if (classic) pictures.classic = makeGraph(byId("classic"));
  const all = Object.values(pictures);

  function linkElements(own, other, method) {
    return [...own].map(([pair, strength]) => {
      const shared = other.has(pair), compare = state.beside && classic;
      return {
        group: "edges",
        data: {
          id: `e${pair}`, source: `n${Math.floor(pair / m)}`, target: `n${pair % m}`, pair, strength,
          width: 1.2 + 5 * Math.min(1, Math.abs(strength)),
          colour: compare ? (shared ? "both" : method === "robust" ? "only" : "classic") : strength > 0 ? "positive" : "negative",
          dash: compare ? (shared || method === "robust" ? "solid" : "dashed") : strength > 0 ? "solid" : "dashed",
        },
        classes: "link",
      };
    });
  }

  function drawLinks() {
    here = links(ours());
    there = links(theirs());
    for (const [method, cy] of Object.entries(pictures)) {
      const [own, other] = method === "robust" ? [here, there] : [there, here];
      cy.batch(() => {
        cy.edges(".link").remove();
        cy.add(linkElements(own, other, method));
      });
    }
    highlight();
  }

  function drawOutline() {
    for (const cy of all) {
      cy.batch(() => {
        cy.elements(".line").remove();
        layouts[state.layout].lines.forEach((line, k) => {
          line.forEach(([x, y], p) => cy.add({ group: "nodes", data: { id: `l${k}-${p}` }, position: { x, y }, classes: "line", locked: true, grabbable: false }));
          for (let p = 1; p < line.length; p++) {
            cy.add({ group: "edges", data: { id: `s${k}-${p}`, source: `l${k}-${p - 1}`, target: `l${k}-${p}` }, classes: "line" });
          }
        });
      });
    }
  }

  function placeNodes() {
    const layout = layouts[state.layout];
    for (const cy of all) {
      cy.batch(() => names.forEach((_, node) => {
        const [x, y] = layout.places[node];
        cy.getElementById(`n${node}`).position({ x, y }).data(nodeData(node));
      }));
    }
    drawOutline();
    fitAll();
  }

  function fitAll() {
    // As high as the picture asks for, so that names keep their size.
    const layout = layouts[state.layout], [wide, high] = [0, 1].map((k) => Math.max(1, Math.max(...layout.places.map((p) => p[k])) - Math.min(...layout.places.map((p) => p[k]))));
    const height = Math.min(Math.max(byId("robust").clientWidth * (high + 90) / (wide + 90), 280), Math.max(420, 0.78 * innerHeight));
    for (const id of Object.keys(pictures)) byId(id).style.height = `${height}px`;
    for (const cy of all) {
      cy.resize();
      cy.fit(cy.nodes().not(".line"), 34);
      if (cy.zoom() > 1.7) { cy.zoom(1.7); cy.center(cy.nodes()); }
    }
  }

  function highlight(node = state.held) {
    for (const cy of all) {
      cy.batch(() => {
        cy.elements().removeClass("far near held");
        if (node === null) return;
        const at = cy.getElementById(`n${node}`), close = at.closedNeighborhood().not(".line");
        cy.elements().not(".line").not(close).addClass("far");
        close.addClass("near");
        at.addClass("held");
      });
    }
  }

  // Both pictures move together.
  let following = false;
  function follow(from, to) {
    from.on("viewport", () => {
      if (following || !state.beside) return;
      following = true;
      to.viewport({ zoom: from.zoom(), pan: from.pan() });
      following = false;
    });
    from.on("drag", "node", (event) => to.getElementById(event.target.id()).position({ ...event.target.position() }));
  }
  if (classic) { follow(pictures.robust, pictures.classic); follow(pictures.classic, pictures.robust); }

  // --- hovering, holding, searching ----------------------------------------------------------------------------------
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

  // --- captions, legend, tables --------------------------------------------------------------------------------------
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
      blocks: fit.reweighting ? `${fit.n_blocks}, for the first fit` : fit.n_blocks === 1 ? "1, classic score matching" : fit.n_blocks,
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

  // --- charts --------------------------------------------------------------------------------------------------------
  const charts = [];
  const marker = {
    id: "marker",
    afterDatasetsDraw(chart) {
      if (!chart.options.plugins.marker.shown) return;
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
  function alphaAxis(alphas) { return axis("penalty α (log scale, decreasing: more edges to the right)", { type: "logarithmic", reverse: true, min: Math.min(...alphas), max: Math.max(...alphas), ticks: { ...alphaTicks, color: colour("soft") } }); }
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
        scales: { x: axis("row"), y: axis("surprise (−log density)", { suggestedMax: cap }) },
        plugins: { tooltip: { callbacks: { label: ({ raw }) => {
          const listed = labels.get(raw.x);
          return `row ${raw.x}${listed && listed.label !== null ? ` (${listed.label})` : ""}: ${raw.true === null ? "beyond measure" : short(raw.true, 4)}${listed && listed.variables ? `, ${listed.variables}` : ""}`;
        } } } },
      },
    });
  }
  function criterionChart() {
    const palette = ["positive", "negative", "mark"], dashes = [[], [7, 4], [2, 3]];
    const rules = Object.entries(path.criteria);
    const sets = rules.map(([name, values], k) => ({
      label: `${name} (its own scale)`, yAxisID: `y${k}`, borderColor: colour(palette[k % 3]), backgroundColor: colour(palette[k % 3]), borderDash: dashes[k % 3],
      data: values.map((y, at) => ({ x: path.alphas[at], y })), pointRadius: 2, borderWidth: 2, spanGaps: false,
    }));
    sets.push({ label: "edges", yAxisID: "edges", borderColor: colour("both"), backgroundColor: colour("both"), data: path.alphas.map((x, at) => ({ x, y: path.n_edges[at] })), pointRadius: 0, borderWidth: 2, stepped: false });
    const scales = { x: alphaAxis(path.alphas), edges: axis("edges", { position: "right", beginAtZero: true, grid: { drawOnChartArea: false } }) };
    rules.forEach(([name], k) => { scales[`y${k}`] = axis(`${name} (least is best)`, { position: "left", display: k === 0 }); });
    chart("criterion-chart", rules.length ? `The least ${rules[0][0]} is at ${count(path.n_edges[path.chosen], "edge")}` : "Edges by penalty", {
      type: "line", data: { datasets: sets },
      options: { scales, interaction: { mode: "nearest", axis: "x", intersect: false }, plugins: { marker: { shown: true } }, onClick: goTo },
    });
  }
  function associationChart() {
    const best = new Map();
    graphs.forEach((graph) => graph.pairs.forEach((pair, k) => best.set(pair, Math.max(best.get(pair) || 0, Math.abs(graph.associations[k])))));
    const pairs = [...best].sort((a, b) => b[1] - a[1]).slice(0, 40).map(([pair]) => pair);
    const maps = graphs.map(links), kept = new Set(graphs[chosen].pairs);
    const line = (pair) => ({
      label: `${names[Math.floor(pair / m)]} – ${names[pair % m]}`, borderWidth: kept.has(pair) ? 1.8 : 1, pointRadius: 0, pointHitRadius: 6,
      borderColor: colour(kept.has(pair) ? "positive" : "both"), borderDash: kept.has(pair) ? [] : [4, 4], backgroundColor: colour(kept.has(pair) ? "positive" : "both"),
      data: graphs.map((graph, at) => ({ x: path.alphas[graph.position], y: maps[at].get(pair) || 0 })),
    });
    const strongest = Math.min(pairs.length, 40);
    chart("path-chart", `How the ${strongest} strongest associations come in (solid: in the chosen graph)`, {
      type: "line", data: { datasets: pairs.map(line) },
      options: {
        scales: { x: alphaAxis(graphs.map((graph) => path.alphas[graph.position])), y: axis("association") }, interaction: { mode: "nearest", intersect: false },
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

  // --- controls ------------------------------------------------------------------------------------------------------
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
})();
