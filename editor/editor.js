// The query editor: a text area in, CodeMirror with SPARQL in its place. Bundled into one module when the package is built.
//
// It knows nothing of the site: what it completes with it is told, and what runs a query it calls.
import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { bracketMatching, StreamLanguage, syntaxHighlighting } from "@codemirror/language";
import { sparql } from "@codemirror/legacy-modes/mode/sparql";
import { EditorState, Prec } from "@codemirror/state";
import { drawSelection, EditorView, highlightActiveLine, highlightSpecialChars, keymap, lineNumbers } from "@codemirror/view";
import { tagHighlighter, tags } from "@lezer/highlight";

import { makeSource } from "./completion.js";

// The site's stylesheet has the colours of these, for light and dark.
const COLOURS = tagHighlighter([
  { tag: tags.keyword, class: "query-keyword" },
  { tag: tags.standard(tags.variableName), class: "query-function" },
  { tag: tags.local(tags.variableName), class: "query-variable" },
  { tag: tags.atom, class: "query-name" },
  { tag: tags.string, class: "query-string" },
  { tag: [tags.comment, tags.meta], class: "query-comment" },
]);

/**
 * Put an editor in the place of a text area, which stays as the field of its form and always has the same text.
 *
 * @param {HTMLTextAreaElement} area
 * @param {object} options
 *   `nonce` is what the Content-Security-Policy lets style elements carry; `label` is the editor's name for screen readers;
 *   `describedBy` the id of what tells how to use it; `prefixes` are namespaces by prefix that need no declaration;
 *   `findNames(kind, text)` gives a Promise of `{text, iri, uses}` of "class" or "property"; `run()` is called by Ctrl-Enter.
 * @returns {{write: (text: string) => void, focus: () => void, goTo: (line: number, column: number) => void}}
 */
export function makeEditor(area, { nonce, label, describedBy, prefixes, findNames, run }) {
  const runNow = () => {
    run();
    return true;
  };
  const state = EditorState.create({
    doc: area.value,
    extensions: [
      EditorView.cspNonce.of(nonce),
      // Tab leaves the editor: whoever has no mouse must get out of it.
      Prec.highest(keymap.of([{ key: "Mod-Enter", run: runNow }])),
      keymap.of([...closeBracketsKeymap, ...completionKeymap, ...historyKeymap, ...defaultKeymap]),
      lineNumbers(),
      history(),
      drawSelection(),
      highlightActiveLine(),
      // Marks that turn the direction of writing, and others that cannot be seen, are shown as dots.
      highlightSpecialChars(),
      bracketMatching(),
      closeBrackets(),
      StreamLanguage.define(sparql),
      syntaxHighlighting(COLOURS),
      autocompletion({ override: [makeSource(prefixes, findNames)], icons: false }),
      EditorView.lineWrapping,
      EditorView.contentAttributes.of({
        "aria-label": label,
        "aria-describedby": describedBy,
        spellcheck: "false",
        autocapitalize: "off",
      }),
      EditorView.domEventHandlers({ beforeinput: replaceSelected }),
      EditorView.updateListener.of((update) => {
        if (update.docChanged) {
          area.value = update.state.doc.toString();
          // Drafts and others that listen to the text area hear of it.
          area.dispatchEvent(new Event("input", { bubbles: true }));
        }
      }),
    ],
  });
  const view = new EditorView({ state });
  area.before(view.dom);
  area.hidden = true;
  return {
    write: (text) => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } }),
    focus: () => view.focus(),
    goTo: (number, column) => {
      const line = view.state.doc.line(Math.max(1, Math.min(number, view.state.doc.lines)));
      view.dispatch({ selection: { anchor: Math.min(line.from + column - 1, line.to) }, scrollIntoView: true });
      view.focus();
    },
  };
}

/**
 * Replace what is selected by what is typed. Left to itself, Chromium keeps the looks of the text that goes in a style attribute,
 * which the Content-Security-Policy forbids, and reports.
 */
function replaceSelected(event, view) {
  const { main } = view.state.selection;
  if (event.inputType !== "insertText" || event.data === null || main.empty || view.composing) {
    return false;
  }
  const insert = () => view.state.update(view.state.replaceSelection(event.data), { userEvent: "input.type", scrollIntoView: true });
  const isTaken = view.state
    .facet(EditorView.inputHandler)
    .some((handle) => handle(view, main.from, main.to, event.data, insert));
  if (!isTaken) {
    view.dispatch(insert());
  }
  event.preventDefault();
  return true;
}
