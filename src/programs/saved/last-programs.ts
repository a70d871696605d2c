/** The programs of each agent that worked: the last one, which the agent can save, and those that it runs again and again. */
import { sha256 } from "../../base/sha256.ts";
import type { Outcome } from "../../sandbox/contract.ts";
import type { Starter } from "../execution/asker.ts";
import { maxSavedCodeChars } from "../limits.ts";
import { programsServer, saveFunction } from "./model.ts";
import type { LastProgram } from "./requesting-program.ts";

/** Agents whose last program is remembered, so that they can save it. */
const maxLastPrograms = 50;

/** Programs whose runs are counted, of all agents together. */
const maxCountedPrograms = 500;

/** Characters of a program that is worth a name. A shorter one is as quickly written. */
const minRepeatedChars = 200;

/** After this many runs, the agent is asked whether to keep the program. */
const repeatedRuns = 3;

export class LastPrograms {
  readonly #programs = new Map<string, LastProgram>();
  /** Runs of nearly the same program, by the agent and the digest of its form. */
  readonly #runs = new Map<string, number>();
  /** The outcomes of programs that an agent has run nearly the same for the third time: one for each program. */
  readonly repeated = new WeakSet<Outcome>();

  of(starter: Starter | undefined): LastProgram | undefined {
    return this.#programs.get(keyOf(starter));
  }

  /** A program that failed, or that saves another one, is not noted. */
  note(code: string, outcome: Outcome, starter: Starter | undefined): void {
    const { ok, receipt } = outcome;
    const called = Object.keys(receipt.tools);
    if (!ok || code.length > maxSavedCodeChars || called.includes(`${programsServer}.${saveFunction}`)) return;
    const key = keyOf(starter);
    this.#programs.delete(key);
    this.#programs.set(key, { code, calls: called.map(withoutFunction) });
    const [oldest] = this.#programs.keys();
    if (this.#programs.size > maxLastPrograms && oldest !== undefined) this.#programs.delete(oldest);
    if (code.length >= minRepeatedChars && called.length > 0) this.#count(code, outcome, key);
  }

  #count(code: string, outcome: Outcome, agent: string): void {
    const key = `${agent} ${sha256(formOf(code))}`;
    const runs = 1 + (this.#runs.get(key) ?? 0);
    this.#runs.delete(key);
    this.#runs.set(key, runs);
    const [oldest] = this.#runs.keys();
    if (this.#runs.size > maxCountedPrograms && oldest !== undefined) this.#runs.delete(oldest);
    if (runs === repeatedRuns) this.repeated.add(outcome);
  }
}

/** The code without comments, and without the values of texts and numbers: programs that differ only there are nearly the same. */
function formOf(code: string): string {
  return code
    .replace(/"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`/g, '""')
    .replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, "")
    .replace(/\b\d[\d_.]*/g, "0")
    .replace(/\s+/g, " ")
    .trim();
}

/** A permission for `demo.resources.read` is one for all of `demo.resources`. */
export function withoutFunction(id: string): string {
  return id.replace(/\.(resources|prompts|skills)\.[a-z]+$/, ".$1");
}

function keyOf(starter: Starter | undefined): string {
  return JSON.stringify([starter?.client, starter?.session]);
}
