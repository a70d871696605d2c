/** Lays out text for a terminal: wrapped lines and bars. */
import { oneLine } from "../../base/visible-text.ts";
import type { Output } from "../io.ts";
import { cyan } from "./terminal-output.ts";

/** Maximum width of a bar in a list. */
const maxBarChars = 60;

/** Minimum width of a bar in a list. */
const minBarChars = 4;

/** Returns the lines of a text that is wrapped between words. The lines after the first may have a different width. */
export function wrappedLines(text: string, width = Number.POSITIVE_INFINITY, widthOfOthers = width): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of oneLine(text).split(" ")) {
    const longer = line === "" ? word : `${line} ${word}`;
    if (line !== "" && Bun.stringWidth(longer) > (lines.length === 0 ? width : widthOfOthers)) {
      lines.push(line);
      line = word;
    } else line = longer;
  }
  return [...lines, line];
}

/** A command that a person copies: up to the end of the sentence. */
const commandOrWord = /(?<=(?:: |[Rr]un |`))claudikins (?:[^.`\n]|\.(?! |$))+\.?|\S+/g;

/**
 * Wraps each line of a text for people between its words, so that no name in it is cut. Commands stay in one piece, and lines that begin
 * with a space, such as lines of code, stay as they are.
 */
export function proseLines(text: string, width = Number.POSITIVE_INFINITY): string {
  return text
    .split("\n")
    .map((line) => (Bun.stringWidth(line) <= width || line.startsWith(" ") ? line : wrappedPieces(line, width)))
    .join("\n");
}

function wrappedPieces(text: string, width: number): string {
  const lines: string[] = [];
  let line = "";
  for (const [piece] of text.matchAll(commandOrWord)) {
    const longer = line === "" ? piece : `${line} ${piece}`;
    if (line !== "" && Bun.stringWidth(longer) > width) {
      lines.push(line);
      line = piece;
    } else line = longer;
  }
  return [...lines, line].join("\n");
}

export interface Bar {
  name: string;
  value: number;
  /** Text after the bar. */
  text: string;
}

/** The output that text is laid out for. Without a terminal, bars use plain characters. */
export type Canvas = Pick<Output, "columns" | "isTerminal">;

/** Blocks that fill a character from the left by no eighths to seven. */
export const eighthBlocks = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

/** Returns a bar chart as text, one bar per line. Values below zero have no bar. */
export function chart(bars: Bar[], { columns = 80, isTerminal }: Canvas): string {
  const longest = (pick: (bar: Bar) => string) => Math.max(0, ...bars.map((bar) => Bun.stringWidth(pick(bar))));
  const names = longest(({ name }) => name);
  const room = Math.min(maxBarChars, Math.max(minBarChars, columns - names - longest(({ text }) => text) - 4));
  const most = Math.max(0, ...bars.map(({ value }) => value));
  const lines = bars.map(({ name, value, text }) => {
    const length = most > 0 ? (Math.max(0, value) / most) * room : 0;
    const bar = isTerminal ? smoothBar(length) : "#".repeat(value > 0 ? Math.max(1, Math.round(length)) : 0);
    return `${name.padEnd(names)}  ${bar === "" ? "" : `${cyan(bar)} `}${text}`.trimEnd();
  });
  return lines.map((line) => `${line}\n`).join("");
}

/** A value above zero has at least one eighth of a character. */
function smoothBar(length: number): string {
  const eighths = length > 0 ? Math.max(1, Math.round(length * 8)) : 0;
  return "█".repeat(Math.floor(eighths / 8)) + eighthBlocks[eighths % 8];
}
