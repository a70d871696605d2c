/** The last program of each agent that worked, so that the agent can save it. */
import type { Outcome } from "../../sandbox/contract.ts";
import type { Starter } from "../execution/asker.ts";
import { maxSavedCodeChars } from "../limits.ts";
import { programsServer, saveFunction } from "./model.ts";
import type { LastProgram } from "./requesting-program.ts";

/** Agents whose last program is remembered, so that they can save it. */
const maxLastPrograms = 50;

export class LastPrograms {
  readonly #programs = new Map<string, LastProgram>();

  of(starter: Starter | undefined): LastProgram | undefined {
    return this.#programs.get(keyOf(starter));
  }

  /** A program that failed, or that saves another one, is not noted. */
  note(code: string, { ok, receipt }: Outcome, starter: Starter | undefined): void {
    const called = Object.keys(receipt.tools);
    if (!ok || code.length > maxSavedCodeChars || called.includes(`${programsServer}.${saveFunction}`)) return;
    const key = keyOf(starter);
    this.#programs.delete(key);
    this.#programs.set(key, { code, calls: called.map(withoutFunction) });
    const [oldest] = this.#programs.keys();
    if (this.#programs.size > maxLastPrograms && oldest !== undefined) this.#programs.delete(oldest);
  }
}

/** A permission for `demo.resources.read` is one for all of `demo.resources`. */
export function withoutFunction(id: string): string {
  return id.replace(/\.(resources|prompts|skills)\.[a-z]+$/, ".$1");
}

function keyOf(starter: Starter | undefined): string {
  return JSON.stringify([starter?.client, starter?.session]);
}
