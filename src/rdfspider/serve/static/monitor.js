// The monitor, live: events bring the HTML of parts that have changed, which this server has made. What a person is doing in a part
// (focus, scrolling, an open detail, a selection) stays. A tab that nobody sees asks for nothing.

const root = document.querySelector("[data-events]");
const connection = document.getElementById("connection");
const RETRY_MS = 5000;
let source = null;
let timer = 0;

function watch() {
  if (source || document.hidden) return;
  clearTimeout(timer);
  source = new EventSource(root.dataset.events);
  source.onopen = () => say("");
  source.onmessage = (event) => {
    say("");
    for (const [id, html] of Object.entries(JSON.parse(event.data))) replace(document.getElementById(id), html);
    follow(document.querySelector("#news [data-state]")?.dataset.state);
  };
  source.onerror = () => {
    say("Connection lost, trying again. What is shown may be old.");
    // The browser tries again by itself, unless the server has refused.
    if (source.readyState === EventSource.CLOSED) {
      leave();
      timer = setTimeout(watch, RETRY_MS);
    }
  };
}

function leave() {
  clearTimeout(timer);
  source?.close();
  source = null;
}

function say(text) {
  if (connection.textContent !== text) connection.textContent = text;
  connection.hidden = !text;
}

function replace(part, html) {
  if (!part?.hasAttribute("data-live") || hasSelection(part)) return;
  const focused = part.contains(document.activeElement) ? list(part, FOCUSABLE).indexOf(document.activeElement) : -1;
  const scrolled = list(part, ".scroll").map((element) => element.scrollLeft);
  const open = list(part, "details").map((element) => element.open);
  part.innerHTML = html;
  list(part, "details").forEach((element, at) => { element.open = open[at] ?? element.open; });
  list(part, ".scroll").forEach((element, at) => { element.scrollLeft = scrolled[at] ?? 0; });
  if (focused >= 0) list(part, FOCUSABLE)[focused]?.focus({ preventScroll: true });
}

const FOCUSABLE = "a[href], summary, [tabindex]";

function list(part, selector) {
  return [...part.querySelectorAll(selector)];
}

function hasSelection(part) {
  const selection = document.getSelection();
  return Boolean(selection) && !selection.isCollapsed && selection.containsNode(part, true);
}

// Only what can be done now is offered.
function follow(state) {
  const buttons = document.querySelector(".buttons");
  if (!state || !buttons || buttons.dataset.state === state) return;
  buttons.dataset.state = state;
  for (const form of buttons.querySelectorAll("[data-when]")) form.hidden = !form.dataset.when.split(" ").includes(state);
}

document.addEventListener("visibilitychange", () => (document.hidden ? leave() : watch()));
addEventListener("pagehide", leave);
addEventListener("pageshow", watch);
watch();
