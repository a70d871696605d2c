/** A dry run: the calls of a program that would change something are recorded instead of made. */
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DryRunReport, Outcome, PlannedCall } from "../../sandbox/contract.ts";

/** Calls that a dry run lists. Others are only counted. */
const maxPlannedCalls = 1_000;

/** Characters of the arguments of all listed calls. Further arguments are left out. */
const maxPlannedChars = 1_000_000;

/** What a dry run shares with the dry runs of the programs that it calls. */
interface Shared {
  /** The folder of the copy of the workspace. */
  scratch: string;
  recorded: { place: readonly number[]; call: PlannedCall }[];
  /** Characters of the recorded arguments. */
  chars: number;
  /** Number of calls that are only counted. */
  more: number;
}

export class DryRun {
  readonly #shared: Shared;
  /** The numbers of the calls that led to this program, outermost first. */
  readonly #around: readonly number[];
  #notMade = 0;

  /** `outer` is the dry run of the program that calls this one, with the number of the call. */
  constructor(outer?: { dryRun: DryRun; call: number }) {
    this.#around = outer ? [...outer.dryRun.#around, outer.call] : [];
    this.#shared = outer ? outer.dryRun.#shared : newShared();
  }

  /** The folder that the workspace is copied into before the program changes it. It need not exist. */
  get scratch(): string {
    return this.#shared.scratch;
  }

  /** Records a call that is not made. `call` is its number in its program. Arguments beyond the limit are left out. */
  record(call: number, { arguments: args, ...planned }: PlannedCall): void {
    const shared = this.#shared;
    this.#notMade += 1;
    if (shared.recorded.length === maxPlannedCalls) {
      shared.more += 1;
      return;
    }
    const isKept = shared.chars + planned.argumentChars <= maxPlannedChars;
    if (isKept) shared.chars += planned.argumentChars;
    shared.recorded.push({
      place: [...this.#around, call],
      call: isKept ? { ...planned, arguments: args } : planned,
    });
  }

  /** Ends the dry run of one program: adds what was recorded to the outcome, and removes the copy of the workspace. */
  async end(outcome: Outcome): Promise<void> {
    outcome.receipt.notMade = this.#notMade;
    // The outermost program has the calls of all.
    if (this.#around.length > 0) return;
    outcome.dryRun = this.#report;
    await rm(this.scratch, { recursive: true, force: true });
  }

  /** The calls in the order in which the programs made them. */
  get #report(): DryRunReport {
    const { recorded, more } = this.#shared;
    return { calls: recorded.toSorted((one, other) => compare(one.place, other.place)).map(({ call }) => call), more };
  }
}

function newShared(): Shared {
  return { scratch: join(tmpdir(), `claudikins-dry-run-${crypto.randomUUID()}`), recorded: [], chars: 0, more: 0 };
}

function compare(one: readonly number[], other: readonly number[]): number {
  for (const [at, number] of one.entries()) {
    const difference = number - (other[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return one.length - other.length;
}
