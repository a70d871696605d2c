/** Progress as lines for a person or an agent: `github.list_issues: 3/10 fetching page 3`. */
import type { Progress } from "@modelcontextprotocol/client";
import { oneLine } from "../base/visible-text.ts";
import { calledId } from "../sandbox/seen-calls.ts";
import type { ToolCallListener } from "./tool-call-events.ts";

/** Characters of the name of a tool in a line about its progress. */
const maxProgressNameChars = 100;

/** Characters of a server's message about its progress. */
const maxProgressChars = 200;

export type Tell = (line: string) => void;

/** Tells the progress of calls, and how they ended. */
export function progressLines(tell: Tell): ToolCallListener {
  const names = new Map<number, string>();
  return (event) => {
    const tool = names.get(event.call) ?? "";
    switch (event.type) {
      case "called":
        // Questions about the tools are answered at once.
        if (event.request.namespace !== "")
          names.set(event.call, oneLine(calledId(event.request), maxProgressNameChars));
        break;
      case "progress":
        tell(progressText(tool, event.progress));
        break;
      case "planned":
        if (names.delete(event.call)) tell(`${tool}: not called (dry run)`);
        break;
      case "returned":
      case "failed":
      case "cancelled":
        if (names.delete(event.call)) tell(`${tool}: ${event.type === "returned" ? "done" : "failed"}`);
    }
  };
}

export function progressText(tool: string, { progress, total, message }: Progress): string {
  const words = oneLine(message ?? "", maxProgressChars);
  const whole = total !== undefined && total > 0 ? total : undefined;
  const share = whole === undefined ? shown(progress) : `${shown(progress)}/${shown(whole)}`;
  return `${tool}: ${[saysIt(words, progress, whole) ? "" : share, words].filter(Boolean).join(" ")}`;
}

/** Whether the server's message contains the progress itself: "720 of 2,400", "30%", "Processed item 3" if the total is unknown. */
function saysIt(words: string, progress: number, total: number | undefined): boolean {
  const numbers = [...words.replace(/(?<=\d)[,'_ ](?=\d{3}(?!\d))/g, "").matchAll(/\d+(?:\.\d+)?/g)].map(Number);
  const has = (value: number) => numbers.includes(value) || numbers.includes(Number(shown(value)));
  if (total === undefined) return has(progress);
  const percent = (100 * progress) / total;
  const isPercent = /\d\s?%/.test(words) && numbers.some((each) => Math.abs(each - percent) < 1);
  // With 1 of 1 both are the same number, which has to be there twice.
  const isShare =
    progress === total ? numbers.filter((each) => each === total).length > 1 : has(progress) && has(total);
  return isShare || isPercent;
}

function shown(value: number): string {
  return String(Math.round(value * 100) / 100);
}
