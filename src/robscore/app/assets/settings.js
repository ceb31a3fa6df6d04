// The form, in options of robscore fit: what is as it was is not asked for.
import { byId } from "./parts.js";
import * as columns from "./columns.js";

const KEPT_BY_TABLE = ["id", "given", "by"];
const OF_READING = ["na", "columns", "exclude", "sep", "decimal", "sheet", "no-header", "seed", ...KEPT_BY_TABLE];

export function options() {
  const asked = [];
  for (const field of byId("settings").querySelectorAll("[data-option]")) asked.push(...of(field));
  return [...asked, ...columns.options()];
}

// Those that change what is read.
export const reading = () => options().filter(([name]) => OF_READING.includes(name));

function of(field) {
  const { option, kind } = field.dataset;
  if (field.type === "checkbox") return field.checked === (kind !== "unless") ? [[option, ""]] : [];
  if (option === "edges") return byId("select").value === "edges" ? [[option, field.value]] : [];
  if (option === "select" && field.value === "edges") return [];
  if (option === "missing" && byId("missing-field").hidden) return [];
  const values = kind === "lines" ? field.value.split("\n") : [field.value];
  return values.map((value) => value.trim()).filter((value) => value !== "").map((value) => [option, value]);
}

// What suits the file that was read.
export function suit(answer, isNew) {
  const holes = answer.missing.cells > 0;
  byId("missing-field").hidden = !holes;
  if (isNew) byId("missing").value = holes ? "impute" : "";
  else if (holes && byId("missing").value === "") byId("missing").value = "impute";
  const auto = byId("family").options[0];
  auto.textContent = answer.family.name ? `the one that fits best (auto: ${answer.family.name})` : "the one that fits best (auto)";
  const pairs = answer.variables * (answer.variables - 1) / 2;
  byId("edges").max = pairs;
  if (isNew) byId("edges").value = Math.min(20, pairs);
}

export function reset() {
  byId("settings").reset();
  byId("edges-field").hidden = true;
}

byId("select").addEventListener("change", (event) => { byId("edges-field").hidden = event.target.value !== "edges"; });
