// What was read: sentences, and a table in which every column has a use.
import { byId, counted, listed, made } from "./parts.js";

const MOST = 500; // rows of the table
const VARIABLE = "variable", LABEL = "id", GIVEN = "given", BY = "by", OUT = "exclude", NONE = "";
const USES = { [VARIABLE]: "variable", [LABEL]: "labels the rows", [GIVEN]: "covariate", [BY]: "changes the graph", [OUT]: "left out" };
const FOUND = { "": VARIABLE, "labels the rows": LABEL, covariate: GIVEN, "changes the graph": BY, "left out": OUT };

let read = null;
let chosen = new Map(); // by name, where it is not what was found

export function forget() {
  read = null;
  chosen = new Map();
}

// What was said of the file.
export const notes = () => (read === null ? [] : read.notes);

export function show(answer) {
  read = answer;
  const { missing } = answer;
  const holes = missing.cells
    ? `${counted(missing.cells, "cell is", "cells are")} missing, in ${counted(missing.columns, "column")} and ${counted(missing.rows, "row")}.`
    : "No cell is missing.";
  const labels = answer.labels === null ? "" : ` The column ${answer.labels} labels the rows.`;
  byId("read-words").textContent = `${counted(answer.rows, "row")}, ${counted(answer.variables, "variable")}. ${holes}${labels}`;
  const { family } = answer;
  byId("family-words").textContent = family.name
    ? `Family: ${family.name}, ${family.reason}`
    : `The family cannot be chosen yet: ${family.reason}`;
  listed(byId("notes"), answer.notes);
  const rows = answer.columns.slice(0, MOST).map(row);
  byId("columns").tBodies[0].replaceChildren(...rows);
  const more = answer.columns.length - rows.length;
  byId("more-columns").textContent = more > 0 ? `And ${more} more, which can be chosen by their names below.` : "";
}

function row(column) {
  const line = made("tr");
  line.append(made("td", column.shown), use(column));
  const numbers = column.missing === undefined ? ["", "", "", ""] : [column.missing || "", column.low, column.middle, column.high];
  line.append(...numbers.map((number) => made("td", number, { class: "number" })), made("td", column.kind || ""));
  return line;
}

function use(column) {
  const cell = made("td");
  const found = found_use(column);
  if (found === NONE && !column.text) {
    cell.append(made("span", `left out: ${column.why}`, { class: "why" }));
    return cell;
  }
  const select = made("select", undefined, { "aria-label": `Use of ${column.shown}` });
  const uses = column.text ? [NONE, LABEL, GIVEN, BY] : [VARIABLE, LABEL, GIVEN, BY, OUT];
  if (column.text && found !== NONE) uses.push(OUT);
  for (const kind of uses) select.append(made("option", kind === NONE ? `left out: ${column.why}` : USES[kind], { value: kind }));
  select.value = chosen.get(column.name) ?? found;
  select.addEventListener("change", () => {
    if (select.value === LABEL) only_label(column.name);
    chosen.set(column.name, select.value);
  });
  cell.append(select);
  return cell;
}

// There is one label at most: what was chosen before goes back to what it was found as.
function only_label(name) {
  for (const other of read.columns) {
    if (other.name !== name && (chosen.get(other.name) ?? found_use(other)) === LABEL) {
      if (chosen.has(other.name)) chosen.delete(other.name);
      const select = [...byId("columns").querySelectorAll("select")].find((one) => one.getAttribute("aria-label") === `Use of ${other.shown}`);
      if (select && found_use(other) !== LABEL) select.value = found_use(other);
      else if (select) { select.value = other.text ? OUT : VARIABLE; chosen.set(other.name, select.value); }
    }
  }
}

const found_use = (column) => FOUND[column.why] ?? NONE;
const as_pattern = (name) => name.replace(/[*?[]/g, "[$&]"); // so that it stands for itself alone

// What the table asks for, in options.
export function options() {
  const asked = [];
  if (read === null) return asked;
  const uses = new Map(read.columns.map((column) => [column, chosen.get(column.name) ?? found_use(column)]));
  let all = false; // a column that counts rows is a variable only if all are named
  for (const [column, kind] of uses) {
    if (!chosen.has(column.name)) continue;
    if (kind === LABEL || kind === GIVEN || kind === BY) asked.push([kind, column.name]);
    if (kind === OUT) asked.push([OUT, as_pattern(column.name)]);
    if (kind === VARIABLE && found_use(column) === LABEL) all = true;
  }
  if (all) for (const [column, kind] of uses) if (kind === VARIABLE) asked.push(["columns", as_pattern(column.name)]);
  return asked;
}
