/** The script of the editor: CodeMirror with TypeScript, completion, hints and the mistakes that the server finds. */
import {
  acceptCompletion,
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
} from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { javascript } from "@codemirror/lang-javascript";
import { bracketMatching, HighlightStyle, indentOnInput, syntaxHighlighting } from "@codemirror/language";
import { type Diagnostic, linter, lintKeymap } from "@codemirror/lint";
import { EditorState, Prec, StateEffect, type Text } from "@codemirror/state";
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  highlightSpecialChars,
  keymap,
  lineNumbers,
  placeholder,
} from "@codemirror/view";
import { tags } from "@lezer/highlight";
import type { PageMistake } from "../../programs-contract.ts";
import { completeTools, toolHints } from "./completion.ts";
import type { Editor, EditorNames, EditorOptions } from "./contract.ts";

const colours = HighlightStyle.define([
  { tag: tags.comment, color: "var(--dim)", fontStyle: "italic" },
  { tag: [tags.string, tags.special(tags.string), tags.regexp], color: "var(--good)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--wait)" },
  { tag: [tags.keyword, tags.modifier, tags.operatorKeyword], color: "var(--accent)" },
  { tag: tags.typeName, color: "var(--accent)" },
]);

const underline = (colour: string) => ({
  backgroundImage: "none",
  textDecoration: `underline wavy ${colour}`,
  textDecorationSkipInk: "none",
  textUnderlineOffset: "3px",
});

const looks = EditorView.theme({
  "&": { height: "100%", color: "var(--text)", backgroundColor: "var(--surface)", fontSize: "13.5px" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.55" },
  ".cm-content": { padding: "10px 0", caretColor: "var(--text)" },
  ".cm-line": { padding: "0 12px 0 8px" },
  ".cm-cursor": { borderLeftColor: "var(--text)", borderLeftWidth: "2px" },
  ".cm-placeholder": { color: "var(--dim)" },
  ".cm-gutters": { color: "var(--dim)", backgroundColor: "var(--surface)", borderRight: "1px solid var(--line)" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "transparent" },
  "&.cm-focused .cm-activeLine, &.cm-focused .cm-activeLineGutter": { backgroundColor: "var(--raised)" },
  "&.cm-focused .cm-activeLineGutter": { color: "var(--text)" },
  "& > .cm-scroller > .cm-selectionLayer .cm-selectionBackground": { background: "var(--line)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground": {
    background: "color-mix(in oklab, var(--accent), transparent 72%)",
  },
  "&.cm-focused .cm-matchingBracket": { backgroundColor: "var(--accent-ground)", outline: "1px solid var(--edge)" },
  ".cm-lintRange-error": underline("var(--bad)"),
  ".cm-lintRange-warning": underline("var(--wait)"),
  ".cm-lintPoint::after": { display: "none" },
  ".cm-tooltip": {
    border: "1px solid var(--edge)",
    borderRadius: "8px",
    color: "var(--text)",
    backgroundColor: "var(--surface)",
    boxShadow: "0 6px 24px rgb(0 0 0 / 18%)",
  },
  ".cm-tooltip.cm-tooltip-autocomplete > ul": { maxHeight: "15em", fontFamily: "var(--mono)" },
  ".cm-tooltip-autocomplete > ul > li[role=option]": { padding: "3px 10px", lineHeight: "1.4" },
  ".cm-tooltip-autocomplete > ul > li[aria-selected]": { color: "var(--text)", background: "var(--accent-ground)" },
  ".cm-completionMatchedText": { textDecoration: "none", color: "var(--accent)", fontWeight: "650" },
  ".cm-completionDetail": { marginLeft: "12px", color: "var(--dim)", fontStyle: "normal", fontSize: "12px" },
  ".cm-tooltip.cm-completionInfo": { maxWidth: "min(420px, 80vw)", padding: "8px 12px" },
  // A narrow window has no room for it beside the list.
  ".cm-completionInfo-left-narrow, .cm-completionInfo-right-narrow": { display: "none" },
  ".cm-completionInfo .cm-hint": { padding: "0" },
  ".cm-hint": { maxWidth: "min(560px, 80vw)", padding: "8px 12px" },
  ".cm-hint code": { display: "block", fontFamily: "var(--mono)", fontSize: "12.5px", overflowWrap: "anywhere" },
  ".cm-hint p": { margin: "6px 0 0", color: "var(--dim)" },
  ".cm-diagnostic": {
    maxWidth: "min(560px, 80vw)",
    padding: "6px 12px",
    whiteSpace: "pre-wrap",
    overflowWrap: "anywhere",
  },
  ".cm-diagnostic-error": { borderLeft: "3px solid var(--bad)" },
  ".cm-diagnostic-warning": { borderLeft: "3px solid var(--wait)" },
  ".cm-panels": { color: "var(--text)", backgroundColor: "var(--raised)" },
  ".cm-panel.cm-panel-lint ul [aria-selected]": { background: "var(--accent-ground)" },
});

/** Silence after which the code is checked. */
const checkAfterMs = 500;

/** The tools may have changed, so the code is checked again. */
const otherTools = StateEffect.define<null>();

export function openEditor(options: EditorOptions): Editor {
  const { parent, code, describedBy, names, onRun } = options;
  const run = (isDryRun: boolean) => () => {
    onRun(isDryRun);
    return true;
  };
  const view = new EditorView({
    parent,
    root: parent.getRootNode() as ShadowRoot,
    state: EditorState.create({
      doc: code,
      extensions: [
        Prec.highest(
          keymap.of([
            { key: "Mod-Enter", run: run(false) },
            { key: "Mod-Shift-Enter", run: run(true) },
            { key: "Tab", run: acceptCompletion },
          ]),
        ),
        lineNumbers(),
        highlightActiveLine(),
        highlightActiveLineGutter(),
        highlightSpecialChars(),
        drawSelection(),
        history(),
        indentOnInput(),
        bracketMatching(),
        closeBrackets(),
        javascript({ typescript: true }),
        syntaxHighlighting(colours),
        autocompletion({ override: [(context) => completeTools(context, names())], icons: false }),
        toolHints(names),
        linter((checked) => diagnosticsOf(checked, options), {
          delay: checkAfterMs,
          needsRefresh: ({ transactions }) =>
            transactions.some(({ effects }) => effects.some((each) => each.is(otherTools))),
        }),
        // Escape and then Tab leaves the editor.
        keymap.of([
          ...closeBracketsKeymap,
          ...completionKeymap,
          ...lintKeymap,
          ...historyKeymap,
          ...defaultKeymap,
          indentWithTab,
        ]),
        placeholder("Write TypeScript: return await server.tool({ … })"),
        EditorView.lineWrapping,
        EditorView.contentAttributes.of({ "aria-label": "Code", "aria-describedby": describedBy, spellcheck: "false" }),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) options.onCode(update.state.doc.toString());
        }),
        looks,
      ],
    }),
  });
  return {
    setCode(next) {
      const { doc } = view.state;
      if (doc.toString() !== next) view.dispatch({ changes: { from: 0, to: doc.length, insert: next } });
    },
    goTo(line, column = 1) {
      const anchor = placeOf(view.state.doc, line, column);
      view.dispatch({ selection: { anchor }, effects: EditorView.scrollIntoView(anchor, { y: "center" }) });
      view.focus();
    },
    focus: () => view.focus(),
    checkAgain: () => view.dispatch({ effects: otherTools.of(null) }),
    close: () => view.destroy(),
  };
}

async function diagnosticsOf(
  { state }: EditorView,
  { check, names, onMistakes }: EditorOptions,
): Promise<Diagnostic[]> {
  const { doc } = state;
  const code = doc.toString();
  await learnUsed(code, names());
  const mistakes = code.trim() === "" ? [] : await check(code);
  onMistakes(mistakes);
  return mistakes.map((each) => diagnosticOf(each, doc));
}

/** Lets servers that the code calls be listed, so that their tools are known to the check. */
async function learnUsed(code: string, names: EditorNames): Promise<void> {
  const { servers } = await names.editor();
  const used = servers.filter(({ jsName }) => jsName !== undefined && code.includes(`${jsName}.`));
  await Promise.all(used.map(({ name }) => names.tools(name)));
}

function diagnosticOf({ line, column, message, hint, isWarning }: PageMistake, doc: Text): Diagnostic {
  const from = placeOf(doc, line, column);
  const { to: end, text, from: start } = doc.lineAt(from);
  const [word = ""] = /^(?:"[^"]*"|'[^']*'|[\w$.]+|\S)/.exec(text.slice(from - start)) ?? [];
  const to = Math.min(end, from + Math.max(1, word.length));
  return { from, to, severity: isWarning ? "warning" : "error", message: [message, hint].filter(Boolean).join("\n") };
}

/** The offset of a line and a column, both counted from 1. Places outside of the code are moved into it. */
function placeOf(doc: Text, line: number, column: number): number {
  const { from, to } = doc.line(Math.min(Math.max(1, line), doc.lines));
  return Math.min(to, from + Math.max(0, column - 1));
}
