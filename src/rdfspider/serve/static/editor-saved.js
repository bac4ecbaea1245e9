// Queries that somebody keeps under a name: in this browser alone, nothing of them is sent. Each is a link that can be shared.
import { clean, make } from "./editor-table.js";

const KEY = "rdfspider.queries";
const MOST = 200;
const NAME_CHARS = 100;

/**
 * Show the saved queries in a box with a form of `#saved-name` and a list `#saved-list`.
 *
 * @param {HTMLElement} box
 * @param {{read: () => string, locate: (query: string) => string, take: (query: string) => void, say: (text: string) => void}} page
 *   `read` gives what is written, `locate` its address, `take` puts a query in its place and runs it.
 */
export function startSaved(box, { read, locate, take, say }) {
  const field = box.querySelector("#saved-name");
  const list = box.querySelector("#saved-list");

  function draw() {
    const saved = load();
    list.replaceChildren(...saved.map(drawSaved));
    box.querySelector("#saved-none").hidden = saved.length > 0;
  }

  function drawSaved({ name, query }) {
    const link = make("a", { href: locate(query) }, make("bdi", {}, clean(name, NAME_CHARS)));
    link.addEventListener("click", (event) => {
      // With a key held, a browser opens another tab.
      if (!event.ctrlKey && !event.metaKey && !event.shiftKey) {
        event.preventDefault();
        take(query);
      }
    });
    const remove = make("button", { type: "button", "aria-label": `Delete ${clean(name, NAME_CHARS)}`, title: "Delete" }, "✕");
    remove.addEventListener("click", () => {
      if (store(load().filter((one) => one.name !== name))) {
        say(`Deleted: ${clean(name, NAME_CHARS)}`);
        draw();
        field.focus();
      }
    });
    return make("li", {}, link, remove);
  }

  function store(saved) {
    try {
      localStorage.setItem(KEY, JSON.stringify(saved));
      return true;
    } catch {
      // No room, or the browser keeps nothing.
      say("This browser does not keep it.");
      return false;
    }
  }

  box.querySelector("form").addEventListener("submit", (event) => {
    event.preventDefault();
    const [name, query] = [field.value.trim().slice(0, NAME_CHARS), read()];
    if (!name || !query) {
      say(query ? "Give it a name first." : "Write a query first.");
      field.focus();
      return;
    }
    const others = load().filter((one) => one.name !== name);
    if (store([{ name, query }, ...others].slice(0, MOST))) {
      field.value = "";
      say(`Saved: ${clean(name, NAME_CHARS)}`);
      draw();
    }
  });
  // Another tab may save, too.
  window.addEventListener("storage", (event) => event.key === KEY && draw());
  draw();
}

/** What was saved; anything else under that name is left out. */
function load() {
  try {
    const saved = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    return Array.isArray(saved) ? saved.filter((one) => typeof one?.name === "string" && typeof one?.query === "string").slice(0, MOST) : [];
  } catch {
    return [];
  }
}
