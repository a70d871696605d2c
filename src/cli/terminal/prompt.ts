/** Questions to the user at the terminal. */
import { ClaudikinsError } from "../../base/errors.ts";
import type { Io } from "../io.ts";

/** Whether stdin and stderr are terminals, so that a person can be asked. */
export function canAsk({ stdin, stderr }: Io): boolean {
  return stdin.isTerminal && stderr.isTerminal;
}

/** Asks a yes-or-no question. An empty answer means no. Throws CANCELLED. */
export async function confirm(io: Io, question: string): Promise<boolean> {
  const answer = await ask(io, `${question} [y/N] `);
  return /^(?:y|yes)$/i.test(answer.trim());
}

interface Consent {
  question: string;
  /** What the person should see before. */
  shown?: string;
  /** Without a terminal. */
  needed: string;
  hint: string;
  /** If the answer is no. */
  refused: string;
}

/** Asks before something that needs a person's consent, unless `--yes` has given it. Throws USAGE without a terminal, and CANCELLED. */
export async function requireConsent(
  io: Io,
  isGiven: boolean | undefined,
  { question, shown = "", needed, hint, refused }: Consent,
): Promise<void> {
  if (isGiven) return;
  if (!canAsk(io)) throw new ClaudikinsError("USAGE", needed, { hint });
  await io.stderr.write(shown);
  if (!(await confirm(io, question))) throw new ClaudikinsError("CANCELLED", refused);
}

/** Returns the index of the chosen item. Throws CANCELLED at the end of the input. */
export async function choose(io: Io, question: string, choices: readonly string[]): Promise<number> {
  const lines = choices.map((choice, place) => `  ${place + 1}  ${choice}\n`).join("");
  await io.stderr.write(`${question}\n${lines}`);
  const numbers = new Map(choices.map((_, place) => [String(place + 1), place]));
  return askUntil(io, `Choose 1 to ${choices.length}: `, (answer) => numbers.get(answer));
}

/** Asks until `read` understands the answer. Throws CANCELLED at the end of the input. */
export async function askUntil<T>(
  io: Io,
  question: string,
  read: (answer: string) => T | undefined,
  again = question,
): Promise<T> {
  for (let prompt = question; ; prompt = again) {
    const answer = read((await ask(io, prompt)).trim().toLowerCase());
    if (answer !== undefined) return answer;
  }
}

/** Returns the typed line. Throws CANCELLED at the end of the input and when the user interrupts. */
export async function ask(io: Io, question: string, { hidden = false } = {}): Promise<string> {
  const onReady = () => io.stderr.write(question);
  const answer = await io.stdin.line({ signal: io.interrupted, hidden, onReady });
  if (hidden || answer === undefined) await io.stderr.write("\n");
  if (answer === undefined) throw new ClaudikinsError("CANCELLED", "No answer was given. Nothing was changed");
  return answer;
}

/** A secret value, from a prompt without echo, or from stdin. `command` reads it. Throws USAGE if nobody can be asked, and CANCELLED. */
export async function secretValue(what: string, command: string, io: Io): Promise<string> {
  if (io.stdin.isTerminal && !canAsk(io)) {
    throw new ClaudikinsError("USAGE", "The value cannot be asked for, because stderr is not a terminal", {
      hint: `Give it on stdin: ${command} < file`,
    });
  }
  return canAsk(io) ? await ask(io, `${what}: `, { hidden: true }) : await io.stdin.text();
}
