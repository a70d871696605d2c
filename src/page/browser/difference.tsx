/** The lines of a difference of two texts: those that were added and removed, and equal ones around them. */
import { counted } from "../../base/counted.ts";
import { visibleLines } from "./text.tsx";

export interface ShownLine {
  /** skipped: the text is a number of equal lines. */
  kind: "same" | "added" | "removed" | "skipped";
  text: string;
}

const signs = { same: "  ", added: "+ ", removed: "- ", skipped: "" } as const;

export function Difference({ lines }: { lines: readonly ShownLine[] }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it is scrolled with the arrow keys.
    <pre class="diff" tabIndex={0}>
      {lines.map(({ kind, text }, at) => (
        // Lines have no other identity.
        <span key={at} class={kind}>
          {signs[kind]}
          {kind === "skipped" ? `… ${counted(Number(text), "equal line")}` : visibleLines(text)}
          {"\n"}
        </span>
      ))}
    </pre>
  );
}
