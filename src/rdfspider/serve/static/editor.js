// The page of queries: runs a query without leaving the page, can end it, and draws what it answers. All of it is there without
// this script, too, but for the chart, the map, the order of rows, saved queries and the end of a query. The editor itself is in a bundle of its own,
// which is missing where the package was built without npm: the text area stays then.
import { drawChart, findColumns } from "./editor-chart.js";
import { startSaved } from "./editor-saved.js";
import { clean, drawTable, make, makeShortener } from "./editor-table.js";

const ACCEPTED = "application/sparql-results+json, text/turtle;q=0.9";
const MOST_TURTLE_CHARS = 200_000;
// Longer addresses are refused by servers, and cut by those who share them; browsers add headers of their own.
const MOST_LINK_CHARS = 15_000;

const find = (id) => document.getElementById(id);
const form = find("query-form");
const area = find("query");
const { prefixes, downloads, mostRows } = JSON.parse(form.dataset.settings);
const shorten = makeShortener(prefixes);
const names = new Map();
let editor = null;
let underWay = null;
let drawn = null;

async function start() {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    run();
  });
  area.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      run();
    }
  });
  find("cancel").addEventListener("click", () => underWay?.abort());
  find("examples").addEventListener("click", takeExample);
  startSaved(find("saved"), { read: () => area.value.trim(), locate, take, say });
  window.addEventListener("popstate", restore);
  document.querySelectorAll(".scripted").forEach((element) => (element.hidden = false));
  // Beside the editor there is room for them.
  find("examples").open ||= isWide();
  const given = find("document");
  if (given) {
    draw(given.dataset.kind === "triples", given.content.textContent, given.dataset.cut === "yes");
  }
  if (form.dataset.bundle) {
    await startEditor();
  }
}

async function startEditor() {
  const { makeEditor } = await import(form.dataset.bundle);
  editor = makeEditor(area, { nonce: form.dataset.nonce, label: "Query", describedBy: "query-help", prefixes, findNames, run });
  form.querySelector("label").addEventListener("click", () => editor.focus());
}

/** Run what is written, unless something runs; `isNew` says whether the page's address changes to it. */
async function run(isNew = true) {
  const query = area.value.trim();
  if (!query || underWay) {
    say(query ? "One query at a time." : "Write a query first.");
    return;
  }
  const ending = new AbortController();
  underWay = ending;
  const started = performance.now();
  const tick = setInterval(() => (find("clock").textContent = `${Math.round((performance.now() - started) / 1000)} s`), 1000);
  show("problem", false);
  show("cancel", true);
  find("clock").textContent = "";
  show("clock", true);
  find("run").disabled = true;
  say("Running …");
  if (isNew) {
    remember(query);
  }
  try {
    const response = await fetch(form.action, {
      method: "POST",
      headers: { Accept: ACCEPTED },
      body: collect(query),
      signal: ending.signal,
    });
    const text = await response.text();
    const kind = response.headers.get("content-type") ?? "";
    if (!response.ok) {
      throw new Error(readProblem(text, kind, response.status));
    }
    const isTriples = kind.includes("turtle");
    const told = draw(isTriples, text, response.headers.has("x-rdfspider-truncated"), query);
    say(`${told} in ${writeTime(performance.now() - started)}`);
  } catch (error) {
    show("result", false);
    say(ending.signal.aborted ? `Cancelled after ${writeTime(performance.now() - started)}` : "No answer");
    if (!ending.signal.aborted) {
      drawProblem(error.message);
    }
  } finally {
    clearInterval(tick);
    underWay = null;
    show("cancel", false);
    show("clock", false);
    find("run").disabled = false;
  }
}

/** Say what is wrong, and lead to the place where it is. */
function drawProblem(message) {
  const place = /line (\d+), column (\d+)/.exec(message);
  const parts = [make("p", {}, clean(message, 1000))];
  if (place) {
    const button = make("button", { type: "button" }, "Go there");
    button.addEventListener("click", () => goTo(Number(place[1]), Number(place[2])));
    parts.push(button);
  }
  find("problem").replaceChildren(...parts);
  show("problem", true);
}

function goTo(line, column) {
  if (editor) {
    editor.goTo(line, column);
    return;
  }
  const before = area.value.split("\n").slice(0, line - 1);
  const at = before.reduce((sum, text) => sum + text.length + 1, 0) + column - 1;
  area.focus();
  area.setSelectionRange(at, at);
}

/** Show a document of SPARQL; returns what it is, in words. */
function draw(isTriples, text, isCut, query = area.value.trim()) {
  const parsed = isTriples ? null : JSON.parse(text);
  const [told, ...parts] = isTriples ? drawTurtle(text, isCut) : "boolean" in parsed ? drawVerdict(parsed.boolean) : drawRows(parsed, isCut);
  find("answer").replaceChildren(...parts);
  const columns = parsed?.results ? findColumns(parsed.head.vars, parsed.results.bindings) : null;
  drawDownloads(query, isTriples ? downloads.triples : downloads.rows);
  show("result", true);
  show("chart", columns !== null);
  if (columns) {
    drawChart(find("chart"), columns, parsed.results.bindings, shorten);
  } else {
    find("chart").replaceChildren();
  }
  showMap(parsed);
  return told;
}

/** Show rows with coordinates on a map, whose outline is loaded only then. */
async function showMap(parsed) {
  show("map", false);
  find("map").replaceChildren();
  if (!parsed?.results?.bindings.length) {
    return;
  }
  drawn = parsed;
  const { drawMap, findPoints } = await import(form.dataset.map);
  const points = findPoints(parsed.head.vars, parsed.results.bindings, shorten);
  // Another answer may have come.
  if (points && drawn === parsed) {
    show("map", true);
    drawMap(find("map"), points);
  }
}

function drawRows(parsed, isCut) {
  const rows = parsed.results.bindings;
  const told = `${rows.length.toLocaleString("en")} ${rows.length === 1 ? "row" : "rows"}`;
  if (rows.length === 0) {
    return [told, make("p", {}, "Nothing fits.")];
  }
  const table = drawTable(parsed.head.vars, rows, shorten);
  if (!isCut) {
    return [told, table];
  }
  const hint = rows.length < mostRows ? ` Run the query to see up to ${mostRows.toLocaleString("en")}.` : "";
  return [`The first ${told}`, makeNote(`These are the first ${told}; there are more.${hint}`), table];
}

function drawTurtle(text, isCut) {
  const shown = make("pre", { tabIndex: 0, role: "region", "aria-label": "Statements in Turtle" }, clean(text.slice(0, MOST_TURTLE_CHARS), MOST_TURTLE_CHARS));
  const hint = isCut ? "These are not all statements: ask for less." : "Only the first part is shown here; the downloads have all.";
  return isCut || text.length > MOST_TURTLE_CHARS ? ["Answered", makeNote(hint), shown] : ["Answered", shown];
}

function drawVerdict(isTrue) {
  const word = isTrue ? "Yes" : "No";
  return [word, make("p", { className: "verdict" }, word)];
}

function drawDownloads(query, formats) {
  const isLong = locate(query).length > MOST_LINK_CHARS;
  const drawFormat = ([name, label, suffix]) => {
    if (!isLong) {
      return make("a", { href: locate(query, name), download: `answer.${suffix}` }, label);
    }
    const button = make("button", { type: "button" }, label);
    button.addEventListener("click", () => save(query, name, `answer.${suffix}`));
    return button;
  };
  const link = isLong
    ? make("span", { className: "dim" }, "This query is too long for a link.")
    : make("a", { id: "permalink", href: locate(query) }, "Link to this query");
  find("downloads").replaceChildren("Download: ", ...formats.map(drawFormat), link);
}

/** Download the answer to a query that no address has room for. */
async function save(query, format, name) {
  const fields = collect(query);
  fields.set("format", format);
  try {
    const response = await fetch(form.action, { method: "POST", body: fields });
    if (!response.ok) {
      throw new Error(readProblem(await response.text(), response.headers.get("content-type") ?? "", response.status));
    }
    const place = URL.createObjectURL(await response.blob());
    make("a", { href: place, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(place), 60_000);
  } catch (error) {
    drawProblem(error.message);
  }
}

function takeExample(event) {
  const link = event.target.closest("a");
  // With a key held, a browser opens another tab: that works without this script.
  if (link && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
    event.preventDefault();
    find("examples").open = isWide();
    take(new URL(link.href).searchParams.get("query"));
  }
}

/** Put a query in the place of what is written, and run it. */
function take(query) {
  write(query);
  underWay?.abort();
  setTimeout(run);
}

/** The page as it was at another address of its history. */
function restore() {
  const query = new URL(location.href).searchParams.get("query");
  underWay?.abort();
  if (query) {
    write(query);
    setTimeout(() => run(false));
  } else {
    show("result", false);
    show("problem", false);
    say("");
  }
}

function remember(query) {
  const place = locate(query);
  if (place.length > MOST_LINK_CHARS) {
    history.pushState(null, "", form.action);
  } else if (new URL(place, location.href).href !== location.href) {
    history.pushState(null, "", place);
  }
}

/** Classes or properties for the editor; what was asked once is known. */
async function findNames(kind, text) {
  const place = `/complete.json?${new URLSearchParams({ kind, q: text.slice(0, 200) })}`;
  if (!names.has(place)) {
    const response = await fetch(place);
    if (!response.ok) {
      return [];
    }
    names.set(place, (await response.json()).names);
  }
  return names.get(place);
}

function readProblem(text, kind, status) {
  try {
    return kind.includes("json") ? JSON.parse(text).error : text.trim() || `The server answers with ${status}.`;
  } catch {
    return `The server answers with ${status}.`;
  }
}

/** The fields of the form, with another query. */
function collect(query) {
  const fields = new URLSearchParams(new FormData(form));
  fields.set("query", query);
  return fields;
}

function locate(query, format = "") {
  const fields = collect(query);
  if (format) {
    fields.set("format", format);
  }
  return `${new URL(form.action).pathname}?${fields}`;
}

function write(text) {
  if (editor) {
    editor.write(text);
  } else {
    area.value = text;
  }
}

const isWide = () => matchMedia("(min-width: 60rem)").matches;
const makeNote = (text) => make("p", { className: "note" }, text);
const say = (text) => (find("state").textContent = text);
const show = (id, isShown) => (find(id).hidden = !isShown);
const writeTime = (ms) => (ms < 1000 ? `${ms.toFixed(0)} ms` : `${(ms / 1000).toFixed(1)} s`);

start();
