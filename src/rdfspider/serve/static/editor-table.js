// Rows of an answer in, a table out that can be sorted and turned page by page. Text of the web is only ever set as text.

const ROWS_A_PAGE = 100;
const LABEL_CHARS = 200;
const TITLE_CHARS = 2000;
const XSD = "http://www.w3.org/2001/XMLSchema#";
const NUMBERS = new Set(
  (
    "integer decimal double float int long short byte nonNegativeInteger positiveInteger nonPositiveInteger negativeInteger " +
    "unsignedInt unsignedLong unsignedShort unsignedByte"
  )
    .split(" ")
    .map((name) => XSD + name),
);
// What cannot be seen, or turns the direction of all that follows.
const UNSEEN = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g;
const order = new Intl.Collator("en", { numeric: true });

/** An element with properties and children; strings become text. */
export function make(name, properties = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key in element) {
      element[key] = value;
    } else {
      element.setAttribute(key, value);
    }
  }
  element.append(...children);
  return element;
}

/** The number that a term is; null for what is none. */
export function readNumber(term) {
  if (!term || term.type !== "literal" || !NUMBERS.has(term.datatype)) {
    return null;
  }
  const number = Number(term.value);
  return Number.isFinite(number) ? number : null;
}

/** A text of the web as it may be shown: without what is unseen, and cut. */
export function clean(text, most = LABEL_CHARS) {
  const plain = text.slice(0, 10 * TITLE_CHARS).replace(UNSEEN, "");
  return plain.length > most ? `${plain.slice(0, most)}…` : plain;
}

/** How an IRI is written for people: schema:Person where the namespace has a prefix. */
export function makeShortener(prefixes) {
  const known = new Map();
  for (const [prefix, namespace] of Object.entries(prefixes)) {
    if (!known.has(namespace)) {
      known.set(namespace, prefix);
    }
  }
  return (iri) => {
    const at = Math.max(iri.lastIndexOf("#"), iri.lastIndexOf("/")) + 1;
    const prefix = known.get(iri.slice(0, at));
    return prefix && at < iri.length ? `${prefix}:${iri.slice(at)}` : iri;
  };
}

/**
 * A table of SPARQL results, as the JSON of SPARQL has them.
 *
 * @param {string[]} variables
 * @param {object[]} bindings
 * @param {(iri: string) => string} shorten
 */
export function drawTable(variables, bindings, shorten) {
  let rows = bindings;
  let first = 0;
  const body = make("tbody");
  const isNumeric = variables.map(
    (name) => bindings.some((row) => row[name]) && bindings.every((row) => !row[name] || readNumber(row[name]) !== null),
  );
  const heads = variables.map((name, at) => {
    const button = make("button", { type: "button", title: "Sort by this column" }, make("bdi", {}, clean(name, 60)));
    const head = make("th", { scope: "col", className: isNumeric[at] ? "number" : "" }, button);
    button.addEventListener("click", () => sortBy(name, head));
    return head;
  });
  const previous = make("button", { type: "button" }, "Previous");
  const next = make("button", { type: "button" }, "Next");
  const where = make("span", { role: "status" });
  const pager = make("nav", { className: "pager", "aria-label": "Pages of the answer" }, previous, where, next);
  const region = make(
    "div",
    { className: "scroll", tabIndex: 0, role: "region", "aria-label": "Rows of the answer" },
    make("table", {}, make("thead", {}, make("tr", {}, ...heads)), body),
  );
  pager.hidden = bindings.length <= ROWS_A_PAGE;
  previous.addEventListener("click", () => turn(-1));
  next.addEventListener("click", () => turn(1));

  function turn(step) {
    first += step * ROWS_A_PAGE;
    fill();
    region.scrollIntoView({ block: "nearest" });
  }

  function sortBy(name, head) {
    const isDown = head.getAttribute("aria-sort") === "ascending";
    heads.forEach((other) => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", isDown ? "descending" : "ascending");
    rows = [...bindings].sort((one, other) => compare(one[name], other[name], isDown ? -1 : 1));
    first = 0;
    fill();
  }

  function fill() {
    const last = Math.min(first + ROWS_A_PAGE, rows.length);
    const shown = rows.slice(first, last);
    body.replaceChildren(
      ...shown.map((row) =>
        make(
          "tr",
          {},
          ...variables.map((name, at) =>
            make("td", { className: isNumeric[at] ? "number" : "" }, ...(row[name] ? drawTerm(row[name], shorten) : [])),
          ),
        ),
      ),
    );
    where.textContent = `Rows ${(first + 1).toLocaleString("en")} to ${last.toLocaleString("en")} of ${rows.length.toLocaleString("en")}`;
    previous.disabled = first === 0;
    next.disabled = last === rows.length;
  }

  fill();
  return make("div", {}, region, pager);
}

/** What stands in a cell. */
function drawTerm(term, shorten) {
  if (term.type === "uri") {
    const name = make("bdi", { title: clean(term.value, TITLE_CHARS) }, clean(shorten(term.value), 80));
    return [make("a", { href: `/entity?iri=${encodeURIComponent(term.value)}` }, name)];
  }
  if (term.type !== "literal") {
    return [make("span", { className: "dim" }, make("bdi", {}, clean(writeTerm(term))))];
  }
  const text = make("bdi", {}, clean(term.value));
  if (term.value.length > LABEL_CHARS) {
    text.title = clean(term.value, TITLE_CHARS);
  }
  const language = term["xml:lang"];
  if (language) {
    text.lang = language.slice(0, 20);
    return [text, " ", make("span", { className: "tag" }, `@${language.slice(0, 20)}`)];
  }
  if (term.datatype && !NUMBERS.has(term.datatype) && term.datatype !== `${XSD}string`) {
    return [text, " ", make("span", { className: "tag" }, clean(shorten(term.datatype), 80))];
  }
  return [text];
}

/** A blank node, or a triple as a term: for reading alone. */
function writeTerm(term) {
  if (term.type === "bnode") {
    return `_:${term.value}`;
  }
  if (term.type === "triple") {
    const parts = ["subject", "predicate", "object"].map((name) => writeTerm(term.value[name]));
    return `<< ${parts.join(" ")} >>`;
  }
  return term.type === "uri" ? `<${term.value}>` : JSON.stringify(term.value);
}

/** Numbers by size, others by the alphabet; what is not there is last, whichever way. */
function compare(one, other, way) {
  if (!one || !other) {
    return (one ? 0 : 1) - (other ? 0 : 1);
  }
  const numbers = [readNumber(one), readNumber(other)];
  if (numbers[0] !== null && numbers[1] !== null) {
    return way * (numbers[0] - numbers[1]);
  }
  return way * order.compare(writeValue(one), writeValue(other));
}

const writeValue = (term) => (typeof term.value === "string" ? term.value.slice(0, TITLE_CHARS) : writeTerm(term));
