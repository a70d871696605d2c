/**
 * What leaves for standard output and standard error. Our own styling carries a mark that nobody else knows. On a terminal
 * everything else that it would obey is shown as an escape; a pipe and a file get the text exactly as it is.
 */
import { visibleText } from "../visible-text.ts";
import type { Output } from "./io.ts";

/** Random digits: foreign text that looks like our styling lacks them. */
const mark = crypto.getRandomValues(new Uint32Array(4)).join("");

/** A control sequence of ours, which lengths of texts on a terminal do not count. */
function own(code: string, final: "m" | "K"): string {
  return `\u001b[${code};${mark}${final}`;
}

const ownSequence = new RegExp(`\\u001b\\[(\\d+);${mark}([mK])`, "g");

/** A colour or a weight, by its number in ECMA-48. */
export function style(code: number): string {
  return own(String(code), "m");
}

/** Takes away the line in which the cursor stands. */
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

/** A carriage return before the end of a line does nothing; any other one writes over what stands there. */
function shown(text: string): string {
  return visibleText(text.replaceAll("\r\n", "\n"));
}

function withoutMark(text: string): string {
  return text.includes(mark) ? text.replace(ownSequence, (_, code, final) => sequence(code, final)) : text;
}

function sequence(code: string, final: string): string {
  return `${final === "K" ? "\r" : ""}\u001b[${code}${final}`;
}
