/** What every implementation of the store must do, as tests that run against each of them. */
import { afterEach, beforeEach, describe } from "bun:test";
import type { Store } from "../../src/store/store.ts";
import { approvalsContract } from "./contract/approvals.ts";
import { auditContract } from "./contract/audit.ts";
import { callLogContract } from "./contract/call-log.ts";
import { countsContract, recordsContract } from "./contract/counted.ts";
import { deliveriesContract } from "./contract/deliveries.ts";
import { directoryContract } from "./contract/directory.ts";
import { executionsContract } from "./contract/executions.ts";
import { programsContract } from "./contract/programs.ts";
import { labelsContract, peopleContract, quotasContract } from "./contract/shared.ts";
import { wholeContract } from "./contract/whole.ts";

/** A place for the data of one test, in which nothing was ever stored. */
export interface StorePlace extends AsyncDisposable {
  /** Opens the store, as one more process does. */
  open(): Store;
}

/** The stores of a test: two processes that share the data. */
export interface Processes {
  readonly one: Store;
  readonly other: Store;
}

export function storeContract(name: string, place: () => Promise<StorePlace>): void {
  let at: StorePlace;
  let [one, other]: Store[] = [];
  const processes: Processes = {
    get one() {
      return one!;
    },
    get other() {
      return other!;
    },
  };
  describe(name, () => {
    beforeEach(async () => {
      at = await place();
      [one, other] = [at.open(), at.open()];
    });
    afterEach(async () => {
      await one?.[Symbol.asyncDispose]();
      await other?.[Symbol.asyncDispose]();
      await at[Symbol.asyncDispose]();
    });
    describe("the store", () => wholeContract(processes));
    describe("records", () => recordsContract(processes));
    describe("calls", () => callLogContract(processes));
    describe("counts", () => countsContract(processes));
    describe("people", () => peopleContract(processes));
    describe("the directory", () => directoryContract(processes));
    describe("labels", () => labelsContract(processes));
    describe("quotas", () => quotasContract(processes));
    describe("approvals", () => approvalsContract(processes));
    describe("deliveries", () => deliveriesContract(processes));
    describe("the audit log", () => auditContract(processes));
    describe("executions", () => executionsContract(processes));
    describe("programs", () => programsContract(processes));
  });
}
