// What may stand at the cursor of a query: variables, keywords, prefixes, and the classes and properties that the data uses.
import { snippetCompletion } from "@codemirror/autocomplete";
import { syntaxTree } from "@codemirror/language";

const KEYWORDS = (
  "SELECT DISTINCT REDUCED CONSTRUCT DESCRIBE ASK WHERE FROM NAMED GRAPH OPTIONAL UNION MINUS FILTER BIND VALUES SERVICE EXISTS NOT IN " +
  "GROUP BY HAVING ORDER ASC DESC LIMIT OFFSET PREFIX BASE AS UNDEF true false"
).split(" ");
const FUNCTIONS = (
  "COUNT SUM MIN MAX AVG SAMPLE GROUP_CONCAT STR LANG LANGMATCHES DATATYPE BOUND IRI BNODE RAND ABS CEIL FLOOR ROUND CONCAT STRLEN " +
  "UCASE LCASE ENCODE_FOR_URI CONTAINS STRSTARTS STRENDS STRBEFORE STRAFTER YEAR MONTH DAY HOURS MINUTES SECONDS NOW MD5 SHA1 SHA256 " +
  "COALESCE IF STRLANG STRDT SAMETERM ISIRI ISBLANK ISLITERAL ISNUMERIC REGEX SUBSTR REPLACE"
).split(" ");
const SNIPPETS = [
  snippetCompletion("SERVICE <urn:rdfspider:text> { ?${thing} text:query '${words}' ; text:score ?score }", {
    label: "SERVICE text",
    detail: "things by words",
    type: "keyword",
  }),
  snippetCompletion("GRAPH ?${page} { ${} }", { label: "GRAPH page", detail: "which page says it", type: "keyword" }),
];
// Where a class is expected: after `a` or rdf:type, also behind the comma of a list.
const CLASS_PLACE = /(?:^|[\s;.{}\]])(?:a|rdf:type)(?:\s+|\s[^;{}"]*,\s*)$/;
const DECLARED = /\bPREFIX\s+([\w.-]*):\s*<([^>]*)>/gi;
// How much before the cursor tells what may follow.
const LOOKED_BACK = 500;

/** A source of completions for CodeMirror; `prefixes` and `findNames` as `makeEditor` takes them. */
export function makeSource(prefixes, findNames) {
  return async (context) => {
    const token = syntaxTree(context.state).resolveInner(context.pos, -1).name;
    if (token === "comment" || token === "string") {
      return null;
    }
    const variable = context.matchBefore(/[?$]\w*/);
    if (variable) {
      return completeVariable(context, variable);
    }
    const word = context.matchBefore(/<[^<>\s"{}|^`\\]*|[A-Za-z][\w.-]*:?[\w.%-]*|:[\w.%-]*/);
    if (!word && !context.explicit) {
      return null;
    }
    const from = word ? word.from : context.pos;
    const typed = word ? word.text : "";
    const text = context.state.doc.toString();
    const declared = new Map([...text.matchAll(DECLARED)].map((match) => [match[1], match[2]]));
    const isClass = CLASS_PLACE.test(text.slice(Math.max(0, from - LOOKED_BACK), from));
    const asked = expand(typed, declared);
    const names = await findNames(isClass ? "class" : "property", asked).catch(() => []);
    const found = names.map((name) => nameOption(name, declared));
    if (typed.startsWith("<") || typed.includes(":")) {
      return { from, options: found, filter: false };
    }
    const words = isClass ? [] : [...KEYWORDS.map(keywordOption), ...SNIPPETS, ...FUNCTIONS.map(functionOption)];
    return { from, options: arrange(typed, found, listPrefixes(prefixes, declared), words), filter: false };
  };
}

/** What was typed in capitals is a keyword first; else a name that begins so, then a prefix, a keyword, any other name. */
function arrange(typed, names, prefixes, words) {
  const start = typed.toLowerCase();
  const fits = (option) => option.label.toLowerCase().startsWith(start);
  const isNear = ({ label }) => label.slice(label.search(/[^:/#]*$/)).toLowerCase().startsWith(start);
  const others = names.filter((option) => !isNear(option));
  const rest = [...names.filter(isNear), ...prefixes.filter(fits)];
  const fitting = words.filter(fits);
  return typed && typed === typed.toUpperCase() ? [...fitting, ...rest, ...others] : [...rest, ...fitting, ...others];
}

function completeVariable(context, variable) {
  const text = context.state.doc.toString();
  const rest = text.slice(0, variable.from) + " " + text.slice(variable.to);
  const names = new Set([...rest.matchAll(/[?$](\w+)/g)].map((match) => variable.text[0] + match[1]));
  return { from: variable.from, options: [...names].map((label) => ({ label, type: "variable" })), validFor: /^[?$]\w*$/ };
}

/** What the server is asked for: of a prefix that the query declares itself, it cannot know. */
function expand(typed, declared) {
  const bare = typed.replace(/^</, "");
  const at = bare.indexOf(":");
  const namespace = at >= 0 ? declared.get(bare.slice(0, at)) : undefined;
  return namespace ? namespace + bare.slice(at + 1) : bare;
}

function nameOption({ text, iri, uses }, declared) {
  let label = text;
  for (const [prefix, namespace] of declared) {
    const name = iri.slice(namespace.length);
    if (namespace && iri.startsWith(namespace) && /^\w[\w-]*$/.test(name)) {
      label = `${prefix}:${name}`;
    }
  }
  return { label, detail: `${uses.toLocaleString("en")} uses`, type: "property" };
}

function listPrefixes(prefixes, declared) {
  return [...Object.entries(prefixes), ...declared].map(([prefix, namespace]) => ({
    label: `${prefix}:`,
    detail: namespace.slice(0, 60),
    type: "namespace",
  }));
}

const keywordOption = (label) => ({ label, type: "keyword" });
const functionOption = (label) => ({ label, apply: `${label}(`, type: "function" });
