/** Colours for terminals. */
import type { Io, Output } from "./io.ts";
import { style } from "./terminal-output.ts";

export const red = style(31);
export const green = style(32);
export const cyan = style(36);
export const bold = style(1);
export const dim = style(2);
const plain = style(0);

export function paint(text: string, colour: string, colours: boolean): string {
  return colours ? `${colour}${text}${plain}` : text;
}

/**
 * Whether text on this output may have colours. A terminal has colours unless it is dumb. NO_COLOR turns them off. FORCE_COLOR, except
 * `0` and `false`, turns them on for pipes too.
 */
export function hasColours(output: Output, { env }: Pick<Io, "env">): boolean {
  const { NO_COLOR, FORCE_COLOR, TERM } = env;
  if (NO_COLOR) return false;
  if (FORCE_COLOR) return FORCE_COLOR !== "0" && FORCE_COLOR !== "false";
  return output.isTerminal && TERM !== "dumb";
}
