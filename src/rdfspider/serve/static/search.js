// Suggestions under the search box while somebody types (an ARIA combobox with a listbox), and small things of the search page.
// Every page works without it.

const WAIT_MS = 120;
// What a suggestion is, where what stands beside it does not tell.
const KINDS = { page: "page", type: "class" };

function makeList(box) {
  const list = document.createElement("ul");
  list.id = "suggestions";
  list.className = "suggestions";
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", "Suggestions");
  list.hidden = true;
  const news = document.createElement("p");
  news.className = "unseen";
  news.setAttribute("role", "status");
  box.form.append(list, news);
  return [list, news];
}

function makeOption(suggestion, number) {
  const option = document.createElement("li");
  option.id = `suggestion-${number}`;
  option.setAttribute("role", "option");
  option.setAttribute("aria-selected", "false");
  option.dataset.text = suggestion.text;
  // Names come from the web: they are text, never HTML.
  const name = document.createElement("bdi");
  name.textContent = suggestion.text;
  const about = document.createElement("small");
  about.textContent = [KINDS[suggestion.kind], suggestion.about].filter(Boolean).join(" · ");
  option.append(name, " ", about);
  return option;
}

function suggest(box) {
  const [list, news] = makeList(box);
  let timer = 0;
  let asking = null;
  let chosen = -1;
  let typed = box.value;

  box.setAttribute("role", "combobox");
  box.setAttribute("aria-autocomplete", "list");
  box.setAttribute("aria-expanded", "false");
  box.setAttribute("aria-controls", list.id);

  function close() {
    clearTimeout(timer);
    asking?.abort();
    list.hidden = true;
    chosen = -1;
    box.setAttribute("aria-expanded", "false");
    box.removeAttribute("aria-activedescendant");
  }

  function choose(number) {
    list.children[chosen]?.setAttribute("aria-selected", "false");
    chosen = number;
    const option = list.children[chosen];
    if (option) {
      option.setAttribute("aria-selected", "true");
      option.scrollIntoView({ block: "nearest" });
      box.setAttribute("aria-activedescendant", option.id);
      box.value = option.dataset.text;
    } else {
      box.removeAttribute("aria-activedescendant");
      box.value = typed;
    }
  }

  function show(suggestions) {
    // Whoever has chosen meanwhile keeps what was chosen.
    if (chosen >= 0) return;
    list.replaceChildren(...suggestions.map(makeOption));
    list.hidden = !suggestions.length;
    box.setAttribute("aria-expanded", String(!list.hidden));
    news.textContent = suggestions.length ? `${suggestions.length} suggestions` : "No suggestions";
  }

  async function ask() {
    asking?.abort();
    asking = new AbortController();
    try {
      const response = await fetch(`/suggest?${new URLSearchParams({ q: typed })}`, {
        signal: asking.signal,
        headers: { Accept: "application/json" },
      });
      if (response.ok) show((await response.json()).suggestions);
    } catch (error) {
      if (error.name !== "AbortError") close();
    }
  }

  box.addEventListener("input", () => {
    typed = box.value;
    if (chosen >= 0) choose(-1);
    clearTimeout(timer);
    if (typed.trim()) timer = setTimeout(ask, WAIT_MS);
    else close();
  });
  box.addEventListener("keydown", (event) => {
    const count = list.children.length;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      if (list.hidden) {
        if (event.key === "ArrowDown" && box.value.trim()) {
          typed = box.value;
          ask();
        }
        return;
      }
      event.preventDefault();
      // One place beyond the ends is what was typed.
      const step = event.key === "ArrowDown" ? 1 : -1;
      choose(((chosen + 1 + step + count + 1) % (count + 1)) - 1);
    } else if (event.key === "Escape" && !list.hidden) {
      event.preventDefault();
      box.value = typed;
      close();
    } else if (event.key === "Enter" || event.key === "Tab") {
      close();
    }
  });
  // The box must keep the focus, or the list would be gone before the click.
  list.addEventListener("pointerdown", (event) => event.preventDefault());
  list.addEventListener("click", (event) => {
    const option = event.target.closest("[role=option]");
    if (!option) return;
    box.value = option.dataset.text;
    close();
    box.form.requestSubmit();
  });
  box.addEventListener("blur", close);
  // Addresses are shared: what was not chosen is no part of them.
  box.form.addEventListener("formdata", ({ formData }) => {
    if (!formData.get("ontology")) formData.delete("ontology");
  });
}

function unfoldFacets(facets) {
  const wide = matchMedia("(min-width: 60rem)");
  const follow = () => { facets.open = wide.matches; };
  wide.addEventListener("change", follow);
  follow();
}

const box = document.getElementById("q");
if (box?.form) suggest(box);
const facets = document.getElementById("facets");
if (facets) unfoldFacets(facets);
// An image that cannot be had leaves no hole.
for (const image of document.querySelectorAll("img.thumb")) {
  const hide = () => { image.hidden = true; };
  if (image.complete && !image.naturalWidth && image.currentSrc) hide();
  image.addEventListener("error", hide);
}
