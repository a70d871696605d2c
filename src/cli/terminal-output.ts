/**
 * Makes text safe for a terminal. The styling of claudikins carries a random mark. On a terminal, every other control sequence is
 * shown as an escape. A pipe and a file get the text unchanged.
 */
import { visibleText } from "../visible-text.ts";
import type { Output } from "./io.ts";

/** Random digits, which text from elsewhere cannot contain. */
const mark = crypto.getRandomValues(new Uint32Array(4)).join("");

/** A control sequence with the mark. `Bun.stringWidth` does not count it. */
function own(code: string, final: "m" | "K"): string {
  return `\u001b[${code};${mark}${final}`;
}

const ownSequence = new RegExp(`\\u001b\\[(\\d+);${mark}([mK])`, "g");

/** A colour or a weight, by its number in ECMA-48. */
export function style(code: number): string {
  return own(String(code), "m");
}

/** Erases the line of the cursor. */
export const eraseLine = own("2", "K");

export class SafeOutput implements Output {
  readonly #output: Output;

  constructor(output: Output) {
    this.#output = output;
  }

  write(text: string): Promise<void> {
    return this.#output.write(this.isTerminal ? forTerminal(text) : withoutMark(text));
  }

  get isTerminal(): boolean {
    return this.#output.isTerminal;
  }

  get columns(): number | undefined {
    return this.#output.columns;
  }

  get isClosed(): boolean {
    return this.#output.isClosed === true;
  }

  get isDumb(): boolean {
    return this.#output.isDumb === true;
  }
}

function forTerminal(text: string): string {
  let safe = "";
  let at = 0;
  for (const found of text.matchAll(ownSequence)) {
    safe += shown(text.slice(at, found.index)) + sequence(found[1]!, found[2]!);
    at = found.index + found[0].length;
  }
  return safe + shown(text.slice(at));
}

/** Removes carriage returns at line ends. Others would overwrite the line and are shown as escapes. */
function shown(text: string): string {
  return visibleText(text.replaceAll("\r\n", "\n"));
}

function withoutMark(text: string): string {
  return text.includes(mark) ? text.replace(ownSequence, (_, code, final) => sequence(code, final)) : text;
}

function sequence(code: string, final: string): string {
  return `${final === "K" ? "\r" : ""}\u001b[${code}${final}`;
}
