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
import { bracketMatching, indentOnInput, syntaxHighlighting } from "@codemirror/language";
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
import type { PageMistake } from "../../editor-contract.ts";
import { completeTools } from "./completion.ts";
import type { Editor, EditorNames, EditorOptions } from "./contract.ts";
import { colours, looks } from "./looks.ts";
import { toolHints } from "./tool-hints.ts";

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
