/** A bar chart as text, one bar per line. */
import { cyan, paint } from "./colours.ts";

export interface Bar {
  name: string;
  value: number;
  /** Text after the bar. */
  text: string;
}

export interface Canvas {
  /** Width in characters. The default is 80. */
  width?: number | undefined;
  colours: boolean;
  /** Without a terminal, bars use plain characters. */
  isTerminal: boolean;
}

/** Maximum width of a bar, in characters. */
const maxBar = 60;

const leastBar = 4;

/** Blocks that fill a character from the left by no eighths to seven. */
export const eighthBlocks = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

/** Values below zero have no bar. */
export function chart(bars: Bar[], { width = 80, colours, isTerminal }: Canvas): string {
  const longest = (pick: (bar: Bar) => string) => Math.max(0, ...bars.map((bar) => Bun.stringWidth(pick(bar))));
  const names = longest(({ name }) => name);
  const room = Math.min(maxBar, Math.max(leastBar, width - names - longest(({ text }) => text) - 4));
  const most = Math.max(0, ...bars.map(({ value }) => value));
  const lines = bars.map(({ name, value, text }) => {
    const length = most > 0 ? (Math.max(0, value) / most) * room : 0;
    const bar = isTerminal ? smoothBar(length) : "#".repeat(value > 0 ? Math.max(1, Math.round(length)) : 0);
    const shown = bar === "" ? "" : `${paint(bar, cyan, colours)} `;
    return `${name.padEnd(names)}  ${shown}${text}`.trimEnd();
  });
  return lines.map((line) => `${line}\n`).join("");
}

/** A value above zero has at least one eighth of a character. */
function smoothBar(length: number): string {
  const eighths = length > 0 ? Math.max(1, Math.round(length * 8)) : 0;
  return "█".repeat(Math.floor(eighths / 8)) + (eighthBlocks[eighths % 8] ?? "");
}
