/** Questions to the person at the terminal. */
import { ClaudikinsError } from "../errors.ts";
import type { Io } from "./io.ts";

/** Whether stdin and stderr are terminals, so that a person can be asked. */
export function canAsk({ stdin, stderr }: Io): boolean {
  return stdin.isTerminal && stderr.isTerminal;
}

/** Asks a yes-or-no question. An empty answer means no. Throws CANCELLED. */
export async function confirm(io: Io, question: string): Promise<boolean> {
  const answer = await ask(io, `${question} [y/N] `);
  return /^(?:y|yes)$/i.test(answer.trim());
}

/** Returns the index of the chosen item. Asks again until the answer is valid. Throws CANCELLED at the end of the input. */
export async function choose(io: Io, question: string, choices: readonly string[]): Promise<number> {
  const lines = choices.map((choice, place) => `  ${place + 1}  ${choice}\n`).join("");
  await io.stderr.write(`${question}\n${lines}`);
  for (;;) {
    const answer = (await ask(io, `Choose 1 to ${choices.length}: `)).trim();
    const place = /^\d+$/.test(answer) ? Number(answer) : 0;
    if (place >= 1 && place <= choices.length) return place - 1;
  }
}

/** Returns the typed line. Throws CANCELLED at the end of the input and when the person interrupts. */
export async function ask(io: Io, question: string, { hidden = false } = {}): Promise<string> {
  const onReady = () => io.stderr.write(question);
  const answer = await io.stdin.line({ signal: io.interrupted, hidden, onReady });
  if (hidden || answer === undefined) await io.stderr.write("\n");
  if (answer === undefined) throw new ClaudikinsError("CANCELLED", "No answer was given. Nothing was changed");
  return answer;
}
