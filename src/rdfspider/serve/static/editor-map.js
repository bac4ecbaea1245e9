// Rows of an answer in, a map out where they have coordinates: points over the outline of the land, and nothing from elsewhere.
import { LAND } from "./editor-land.js";
import { clean, make } from "./editor-table.js";

const SVG = "http://www.w3.org/2000/svg";
const MOST_POINTS = 2000;
const MOST_LABELS = 40;
const LABEL_CHARS = 28;
// In pixels of the screen, so that words have their size on a phone, too.
let [WIDTH, HEIGHT] = [800, 420];
const LATITUDE = /^(.*?)_?lat(?:itude)?$/i;
const LONGITUDE = /^(.*?)_?(?:long?|lng|longitude)$/i;
const PLACE = /^(?:.*_)?(?:geo|point|position|coordinates?|location|wkt)$/i;
const DEGREES = String.raw`([+-]?\d{1,3}(?:\.\d{1,20})?)`;
// Well-known text has the longitude first, geo URIs and people have the latitude first.
const WKT = new RegExp(String.raw`^(?:<[^>]{1,200}>\s*)?POINT\s*Z?\s*\(\s*${DEGREES}\s+${DEGREES}(?:\s+\S{1,30})?\s*\)$`, "i");
const PAIR = new RegExp(String.raw`^(?:geo:)?\s*${DEGREES}\s*[,;\s]\s*${DEGREES}(?:[,;].{0,100})?$`, "i");
const NAMES = /^(?:.*_)?(?:name|label|title|headline)$/i;
const STEPS = [0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 15, 30];

/**
 * The points of an answer, with their labels; null where it has none.
 *
 * @param {string[]} variables
 * @param {object[]} bindings
 * @param {(iri: string) => string} shorten
 */
export function findPoints(variables, bindings, shorten) {
  const read = findReader(variables, bindings);
  if (!read) {
    return null;
  }
  const rest = variables.filter((name) => !read.columns.includes(name));
  const named = rest.find((name) => NAMES.test(name)) ?? rest.find((name) => bindings.some((row) => row[name]?.type === "literal")) ?? rest[0];
  const points = [];
  for (const row of bindings) {
    const place = read.read(row);
    if (place && points.length < MOST_POINTS) {
      const term = row[named] ?? rest.map((name) => row[name]).find(Boolean);
      const label = term ? clean(term.type === "uri" ? shorten(term.value) : term.value, 120) : "";
      points.push({ x: place[1], y: -place[0], label });
    }
  }
  return points.length ? points : null;
}

/** What reads a row's latitude and longitude, by the names of columns and what is in them. */
function findReader(variables, bindings) {
  for (const latitude of variables) {
    const stem = LATITUDE.exec(latitude)?.[1];
    const longitude = stem === undefined ? null : variables.find((name) => LONGITUDE.exec(name)?.[1] === stem);
    if (longitude) {
      return { columns: [latitude, longitude], read: (row) => check(row[latitude]?.value, row[longitude]?.value) };
    }
  }
  for (const name of variables) {
    const readPoint = (row) => readText(row[name], PLACE.test(name));
    if (bindings.some(readPoint)) {
      return { columns: [name], read: readPoint };
    }
  }
  return null;
}

function readText(term, isPlace) {
  if (!term || term.value.length > 500) {
    return null;
  }
  const text = term.value.trim();
  const wkt = WKT.exec(text);
  if (wkt) {
    return check(wkt[2], wkt[1]);
  }
  const pair = isPlace || text.startsWith("geo:") ? PAIR.exec(text) : null;
  return pair ? check(pair[1], pair[2]) : null;
}

function check(latitude = "", longitude = "") {
  const [north, east] = [latitude, longitude].map((text) => (text.trim() ? Number(text.trim().replace(",", ".")) : NaN));
  return Math.abs(north) <= 90 && Math.abs(east) <= 180 ? [north, east] : null;
}

/** Put the map into a box that is on the screen; the table of the answer has the same, for who cannot see it. */
export function drawMap(box, points) {
  WIDTH = Math.max(260, Math.min(900, box.clientWidth - 30));
  HEIGHT = Math.max(240, Math.round(WIDTH * 0.52));
  const places = new Set(points.map((point) => `${point.x} ${point.y}`)).size;
  const text = `A map of ${points.length.toLocaleString("en")} ${points.length === 1 ? "point" : "points"} in ${places.toLocaleString("en")} ${places === 1 ? "place" : "places"}; the table has them all.`;
  const home = findExtent(points);
  const frame = make("div", { className: "map-frame" });
  let shown = home;
  const show = (extent) => {
    shown = limit(extent);
    frame.replaceChildren(drawExtent(points, shown, text));
  };
  const button = (label, name, act) => {
    const made = make("button", { type: "button", "aria-label": name, title: name }, label);
    made.addEventListener("click", act);
    return made;
  };
  const move = (dx, dy) => show({ ...shown, x: shown.x + dx * shown.width, y: shown.y + dy * shown.height });
  const tools = make(
    "div",
    { className: "map-tools", role: "group", "aria-label": "Map" },
    button("+", "Closer", () => show(scale(shown, 0.5))),
    button("−", "Farther", () => show(scale(shown, 2))),
    button("←", "West", () => move(-0.3, 0)),
    button("→", "East", () => move(0.3, 0)),
    button("↑", "North", () => move(0, -0.3)),
    button("↓", "South", () => move(0, 0.3)),
    button("Points", "Show all points", () => show(home)),
    button("World", "Show the world", () => show({ x: -180, y: -90, width: 360, height: 180 })),
  );
  show(home);
  const note = "Outline of the land: Natural Earth, 1:110 million.";
  box.replaceChildren(make("figure", {}, frame, tools, make("figcaption", {}, `${text} ${note}`)));
}

/** The part of the world that has all points, with room around them. */
function findExtent(points) {
  const [xs, ys] = [points.map((point) => point.x), points.map((point) => point.y)];
  const [west, east] = [Math.min(...xs), Math.max(...xs)];
  const [north, south] = [Math.min(...ys), Math.max(...ys)];
  const [width, height] = [Math.max((east - west) * 1.25, 16), Math.max((south - north) * 1.25, 8)];
  return limit({ x: (west + east - width) / 2, y: (north + south - height) / 2, width, height });
}

const scale = (extent, factor) => ({
  x: extent.x + (extent.width * (1 - factor)) / 2,
  y: extent.y + (extent.height * (1 - factor)) / 2,
  width: extent.width * factor,
  height: extent.height * factor,
});

/** An extent that fits the frame and the world: a degree to the east is shorter away from the equator. */
function limit({ x, y, width, height }) {
  const [middleX, middleY] = [x + width / 2, Math.max(-85, Math.min(85, y + height / 2))];
  const narrow = Math.cos((middleY * Math.PI) / 180);
  let tall = Math.max(height, (width * narrow * HEIGHT) / WIDTH, 0.05);
  tall = Math.min(tall, 190);
  let wide = (tall * WIDTH) / HEIGHT / narrow;
  if (wide > 380) {
    [wide, tall] = [380, Math.min(190, (380 * narrow * HEIGHT) / WIDTH)];
  }
  const clampX = Math.max(-190 + wide / 2, Math.min(190 - wide / 2, middleX));
  const clampY = Math.max(-95 + tall / 2, Math.min(95 - tall / 2, middleY));
  return { x: clampX - wide / 2, y: clampY - tall / 2, width: wide, height: tall };
}

function drawExtent(points, extent, text) {
  const svg = makeSvg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": text, class: "map" });
  const placeX = (x) => ((x - extent.x) / extent.width) * WIDTH;
  const placeY = (y) => ((y - extent.y) / extent.height) * HEIGHT;
  const [perX, perY] = [WIDTH / extent.width / 10, HEIGHT / extent.height / 10];
  svg.append(
    makeSvg("rect", { class: "sea", width: WIDTH, height: HEIGHT }),
    makeSvg("path", { class: "land", d: LAND, transform: `matrix(${perX} 0 0 ${perY} ${placeX(0)} ${placeY(0)})` }),
    ...drawGraticule(extent, placeX, placeY),
  );
  const marks = [];
  const labels = [];
  const taken = [];
  for (const point of points) {
    const [x, y] = [placeX(point.x), placeY(point.y)];
    if (x < 0 || y < 0 || x > WIDTH || y > HEIGHT) {
      continue;
    }
    const mark = makeSvg("circle", { class: "point", cx: x.toFixed(1), cy: y.toFixed(1), r: 5 });
    mark.append(makeSvg("title", {}, `${point.label ? `${point.label}, ` : ""}${writeDegrees(-point.y, "NS")} ${writeDegrees(point.x, "EW")}`));
    marks.push(mark);
    const label = point.label.length > LABEL_CHARS ? `${point.label.slice(0, LABEL_CHARS)}…` : point.label;
    const isRight = x > WIDTH * 0.7;
    const width = label.length * 7;
    const box = { x: isRight ? x - 9 - width : x + 9, y: y - 9, width, height: 16 };
    if (label && labels.length < MOST_LABELS && !taken.some((other) => overlap(box, other))) {
      taken.push(box);
      labels.push(makeSvg("text", { class: "place-name", x: (isRight ? x - 9 : x + 9).toFixed(1), y: (y + 4).toFixed(1), "text-anchor": isRight ? "end" : "start" }, label));
    }
  }
  svg.append(...marks, ...labels);
  return svg;
}

function* drawGraticule(extent, placeX, placeY) {
  const step = STEPS.find((each) => extent.width / each <= 10) ?? 30;
  const list = (from, to) => Array.from({ length: Math.max(0, Math.floor(to / step) - Math.ceil(from / step) + 1) }, (_, at) => (Math.ceil(from / step) + at) * step);
  for (const x of list(Math.max(extent.x, -180), Math.min(extent.x + extent.width, 180))) {
    yield makeSvg("line", { class: "graticule", x1: placeX(x), x2: placeX(x), y1: 0, y2: HEIGHT });
    yield makeSvg("text", { class: "scale", x: placeX(x) + 3, y: HEIGHT - 4 }, writeDegrees(x, "EW", step));
  }
  for (const y of list(Math.max(extent.y, -90), Math.min(extent.y + extent.height, 90))) {
    yield makeSvg("line", { class: "graticule", x1: 0, x2: WIDTH, y1: placeY(y), y2: placeY(y) });
    yield makeSvg("text", { class: "scale", x: 3, y: placeY(y) - 3 }, writeDegrees(-y, "NS", step));
  }
}

const overlap = (one, other) => one.x < other.x + other.width && other.x < one.x + one.width && one.y < other.y + other.height && other.y < one.y + one.height;
const writeDegrees = (degrees, sides, step = 0.001) => {
  const digits = step >= 1 ? 0 : step >= 0.1 ? 1 : step >= 0.01 ? 2 : 4;
  const side = Math.abs(degrees) < 1e-9 ? "" : ` ${sides[degrees < 0 ? 1 : 0]}`;
  return `${Math.abs(degrees).toFixed(digits)}°${side}`;
};

function makeSvg(name, attributes, text = "") {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) {
    element.setAttribute(key, String(value));
  }
  element.textContent = text;
  return element;
}
