/** Colours of a terminal, for those who watch one and did not ask for none. */
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
 * Whether what is written there may have colours: where a person watches. NO_COLOR takes them away, FORCE_COLOR (but for `0`
 * and `false`) gives them to pipes as well, a dumb terminal has none.
 */
export function hasColours(output: Output, { env }: Pick<Io, "env">): boolean {
  const { NO_COLOR, FORCE_COLOR, TERM } = env;
  if (NO_COLOR) return false;
  if (FORCE_COLOR) return FORCE_COLOR !== "0" && FORCE_COLOR !== "false";
  return output.isTerminal && TERM !== "dumb";
}
