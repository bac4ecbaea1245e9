// Rows of an answer in, a small chart out where they have numbers: bars by label, or a line over time, or over another number
// where there is nothing else.
import { clean, make, readNumber } from "./editor-table.js";

const SVG = "http://www.w3.org/2000/svg";
const MOST_BARS = 40;
const MOST_POINTS = 2000;
const WIDTHS = [320, 800];
const DATE = /^-?\d{4}(-\d\d(-\d\d(T[\d:.]+(Z|[+-]\d\d:\d\d)?)?)?)?(Z|[+-]\d\d:\d\d)?$/;

/**
 * What can be drawn: the column of labels, those of numbers, and whether labels are places on a line. Null where nothing can.
 */
export function findColumns(variables, bindings) {
  if (bindings.length < 2) {
    return null;
  }
  const numeric = variables.filter((name) => isAll(bindings, name, (term) => readNumber(term) !== null));
  const dates = variables.filter((name) => isAll(bindings, name, (term) => readTime(term) !== null));
  const plain = variables.find((name) => !numeric.includes(name));
  // A number that comes first is what the others are of only where it is a year, or where there is no name.
  const scale = numeric.find((name) => name === variables[0] && (!plain || isYears(bindings, name)));
  const label = dates[0] ?? scale ?? plain;
  const numbers = numeric.filter((name) => name !== label);
  if (!label || numbers.length === 0) {
    return null;
  }
  return { label, numbers, isOrdered: label === dates[0] || label === scale };
}

/** A figure with its controls, in an element of the page; `shorten` is how IRIs are written. */
export function drawChart(holder, columns, bindings, shorten) {
  const figure = make("figure");
  const caption = make("figcaption");
  const place = make("div");
  const kind = makeSelect("Chart", [["bars", "Bars"], ["line", "Line"], ["none", "None"]], columns.isOrdered ? "line" : "bars");
  const number = makeSelect("of", columns.numbers.map((name) => [name, name]), columns.numbers[0]);
  const draw = () => {
    const points = readPoints(columns, number.select.value, bindings, shorten);
    // In the width that there is, so that letters keep their size.
    const width = Math.min(Math.max(holder.clientWidth - 30, WIDTHS[0]), WIDTHS[1]);
    const drawn = { bars: drawBars, line: drawLine }[kind.select.value]?.(points, width);
    place.replaceChildren(...(drawn ? [drawn.svg] : []));
    drawn?.svg.querySelectorAll("[data-room]").forEach(fitText);
    caption.textContent = drawn ? `${drawn.text} The table has the numbers.` : "";
    caption.hidden = !drawn;
    if (drawn) {
      drawn.svg.setAttribute("aria-label", `${drawn.text} ${number.select.value} by ${columns.label}`);
    }
  };
  kind.select.addEventListener("change", draw);
  number.select.addEventListener("change", draw);
  number.label.hidden = columns.numbers.length < 2;
  figure.append(make("div", { className: "row" }, kind.label, number.label), place, caption);
  holder.replaceChildren(figure);
  // Letters can be measured only where they are shown.
  draw();
}

function isAll(bindings, name, test) {
  return bindings.some((row) => row[name]) && bindings.every((row) => !row[name] || test(row[name]));
}

/** Whether a column has years: it is called so, and has no other numbers and none twice. */
function isYears(bindings, name) {
  const isYear = (term) => Number.isInteger(readNumber(term)) && Math.abs(readNumber(term)) < 10_000;
  const values = bindings.map((row) => row[name]?.value);
  return /year/i.test(name) && new Set(values).size === values.length && isAll(bindings, name, isYear);
}

/** Milliseconds since 1970 of a date; null for what is none. */
function readTime(term) {
  if (term.type !== "literal" || readNumber(term) !== null || !DATE.test(term.value)) {
    return null;
  }
  const time = Date.parse(term.value);
  return Number.isNaN(time) ? null : time;
}

function readPoints(columns, number, bindings, shorten) {
  const points = [];
  const uses = new Map();
  for (const row of bindings) {
    const term = row[columns.label];
    if (term && row[number]) {
      const text = term.type === "uri" ? shorten(term.value).replace(/^https?:\/\/(www\.)?/, "") : String(term.value);
      const label = clean(text, 100);
      uses.set(label, (uses.get(label) ?? 0) + 1);
      const x = columns.isOrdered ? (readTime(term) ?? readNumber(term)) : points.length;
      points.push({ label, language: term["xml:lang"], x, y: readNumber(row[number]) });
    }
  }
  // What is otherwise the same is told apart by its language.
  for (const point of points) {
    if (point.language && uses.get(point.label) > 1) {
      point.label += ` @${point.language.slice(0, 20)}`;
    }
  }
  return points;
}

function drawBars(points, whole) {
  const shown = points.slice(0, MOST_BARS);
  // Names need so much also where there is little room.
  const [rowHeight, left, right] = [24, Math.round(Math.max(whole * 0.36, Math.min(160, whole * 0.48))), 64];
  const svg = makeSvg("svg", { viewBox: `0 0 ${whole} ${shown.length * rowHeight + 4}`, role: "img" });
  const most = Math.max(0, ...shown.map((point) => point.y));
  const least = Math.min(0, ...shown.map((point) => point.y));
  const scale = (whole - left - right) / (most - least || 1);
  const zero = left - least * scale;
  shown.forEach((point, at) => {
    const top = at * rowHeight;
    const width = Math.max(1, Math.abs(point.y) * scale);
    svg.append(
      makeSvg("text", { x: left - 8, y: top + 16, "text-anchor": "end", "data-room": left - 12 }, point.label),
      makeSvg("rect", { class: "mark", x: point.y < 0 ? zero - width : zero, y: top + 4, width, height: rowHeight - 8, rx: 2 }),
      makeSvg("text", { class: "scale", x: (point.y < 0 ? zero : zero + width) + 6, y: top + 16 }, writeNumber(point.y)),
    );
  });
  const more = points.length > shown.length ? ` The first ${shown.length} of ${points.length} rows are drawn.` : "";
  return { svg, text: `${shown.length} bars, from ${describe(shown)}.${more}` };
}

function drawLine(points, whole) {
  const sorted = points.filter((point) => point.x !== null).sort((one, other) => one.x - other.x).slice(0, MOST_POINTS);
  const [height, left, right, top, bottom] = [280, 80, 20, 14, 30];
  const svg = makeSvg("svg", { viewBox: `0 0 ${whole} ${height}`, role: "img" });
  const [xs, ys] = [sorted.map((point) => point.x), sorted.map((point) => point.y)];
  const [firstX, lastX] = [Math.min(...xs), Math.max(...xs)];
  const [least, most] = [Math.min(0, ...ys), Math.max(0, ...ys)];
  const placeX = (x) => left + ((x - firstX) / (lastX - firstX || 1)) * (whole - left - right);
  const placeY = (y) => height - bottom - ((y - least) / (most - least || 1)) * (height - top - bottom);
  for (const part of [0, 0.25, 0.5, 0.75, 1]) {
    const value = least + part * (most - least);
    svg.append(
      makeSvg("line", { class: "axis", x1: left, x2: whole - right, y1: placeY(value), y2: placeY(value) }),
      makeSvg("text", { class: "scale", x: left - 8, y: placeY(value) + 4, "text-anchor": "end" }, writeNumber(value)),
    );
  }
  svg.append(makeSvg("polyline", { class: "line", points: sorted.map((point) => `${placeX(point.x).toFixed(1)},${placeY(point.y).toFixed(1)}`).join(" ") }));
  if (sorted.length <= 60) {
    svg.append(...sorted.map((point) => makeSvg("circle", { class: "mark", cx: placeX(point.x), cy: placeY(point.y), r: 3 })));
  }
  svg.append(
    makeSvg("text", { class: "scale", x: left, y: height - 8 }, fit(sorted[0]?.label ?? "", 20)),
    makeSvg("text", { class: "scale", x: whole - right, y: height - 8, "text-anchor": "end" }, fit(sorted.at(-1)?.label ?? "", 20)),
  );
  const more = points.length > sorted.length ? ` ${sorted.length} of ${points.length} rows are drawn.` : "";
  return { svg, text: `A line of ${sorted.length} points, from ${describe(sorted)}.${more}` };
}

/** The least and the most of the points, in words. */
function describe(points) {
  const sorted = [...points].sort((one, other) => one.y - other.y);
  const [least, most] = [sorted[0], sorted.at(-1)];
  return least ? `${writeNumber(least.y)} (${fit(least.label, 40)}) to ${writeNumber(most.y)} (${fit(most.label, 40)})` : "nothing";
}

function makeSvg(name, attributes, text = "") {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) {
    element.setAttribute(key, String(value));
  }
  element.textContent = text;
  return element;
}

function makeSelect(label, options, chosen) {
  const select = make("select", {}, ...options.map(([value, text]) => make("option", { value }, text)));
  select.value = chosen;
  return { select, label: make("label", {}, `${label} `, select) };
}

/** Cut a text in its middle until it has room: addresses differ at their ends. */
function fitText(element) {
  const [text, room, width] = [element.textContent, Number(element.dataset.room), element.getComputedTextLength()];
  for (let kept = Math.floor((text.length * room) / width); kept > 1 && element.getComputedTextLength() > room; kept -= 1) {
    const head = Math.ceil(kept / 2);
    element.textContent = `${text.slice(0, head)}…${text.slice(text.length - kept + head)}`;
  }
}

const fit = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);
const writeNumber = (number) => number.toLocaleString("en", { maximumFractionDigits: Math.abs(number) < 10 ? 3 : 1 });
