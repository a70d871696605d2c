/** The colours of the editor, from those of the page. The page's policy forbids images in style sheets, so mistakes are underlined without one. */
import { HighlightStyle } from "@codemirror/language";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";

export const colours = HighlightStyle.define([
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

export const looks = EditorView.theme({
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
