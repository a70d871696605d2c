/**
 * The claims of this process: which executions it runs, and by which of their claims. Every write for an execution says the claim, and changes
 * nothing if the execution was claimed since. So a process that was only slow, and counts as dead for the others, cannot disturb the one that
 * has taken its execution over.
 */
import { ClaudikinsError } from "../../base/errors.ts";
import type { Which } from "../execution-table.ts";
import { first, type Work } from "../work.ts";

export interface Claim {
  owner: string;
  /** The value of the column `claims`. */
  number: number;
}

/** A condition for the row of an execution: the claim is the last one, and the execution has not ended. */
const isClaimed = "id = $execution AND owner = $owner AND claims = $number AND state = 'open'";

/**
 * Selects the execution if the claim holds. Another process that claims it waits for the end of the transaction: what is written with the
 * claim is there before anyone else reads it.
 */
export const claimed = `SELECT id FROM claudikins.executions WHERE ${isClaimed} FOR SHARE`;

/** The row of an execution, if the claim holds. */
export function byClaim(execution: string, claim: Claim): Which {
  return { condition: isClaimed, values: { execution, ...claim } };
}

export class Claims {
  readonly #claims = new Map<string, Claim>();
  /** The executions that are saved for the first time, with the owner. */
  readonly #saving = new Map<string, string>();

  made(execution: string, claim: Claim): void {
    this.#claims.set(execution, claim);
    this.#saving.delete(execution);
  }

  saving(execution: string, owner: string): void {
    this.#saving.set(execution, owner);
  }

  /** The claim is kept until it is dropped, also if it is lost: later writes must not succeed either. */
  of(execution: string): Claim | undefined {
    return this.#claims.get(execution);
  }

  savingOwner(execution: string): string | undefined {
    return this.#saving.get(execution);
  }

  drop(execution: string): void {
    this.#claims.delete(execution);
    this.#saving.delete(execution);
  }

  /** Throws EXECUTION_LOST without a claim. */
  required(execution: string): Claim {
    const claim = this.#claims.get(execution);
    if (!claim) throw lostClaim(execution);
    return claim;
  }
}

/** Keeps the claim until the end of the transaction. Throws EXECUTION_LOST. */
export function* keepClaim(execution: string, claim: Claim): Work<void> {
  if (!(yield* first(claimed, { execution, ...claim }))) throw lostClaim(execution);
}

export function lostClaim(execution: string): ClaudikinsError {
  return new ClaudikinsError("EXECUTION_LOST", `Another process has taken the execution "${execution}" over`, {
    hint: "Nothing that it does here is stored. To ask for it: claudikins executions list",
  });
}
