// Small things that every part of the page uses. Text from data is only ever set as text.

export const byId = (id) => document.getElementById(id);

export function made(tag, text, attributes = {}) {
  const element = document.createElement(tag);
  if (text !== undefined) element.textContent = text;
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

export function listed(list, sentences) {
  list.replaceChildren(...sentences.map((sentence) => made("li", sentence)));
}

export const counted = (count, one, many = `${one}s`) => `${count.toLocaleString("en")} ${count === 1 ? one : many}`;

export function sized(bytes) {
  if (bytes < 1e6) return `${Math.max(1, Math.round(bytes / 1e3))} kB`;
  return bytes < 1e9 ? `${(bytes / 1e6).toPrecision(3)} MB` : `${(bytes / 1e9).toPrecision(3)} GB`;
}

export function lasting(seconds) {
  const whole = Math.round(seconds);
  return whole < 100 ? `${whole} s` : whole < 6000 ? `${Math.round(whole / 60)} min` : `${(whole / 3600).toFixed(1)} h`;
}
