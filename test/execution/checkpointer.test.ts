/** The store at each moment of an execution: no crash may make a call twice. */
import type { Database } from "bun:sqlite";
import { afterEach, beforeEach, expect, test } from "bun:test";
import { join } from "node:path";
import { ExecutionCheckpointer, type StoreAccess } from "../../src/execution/checkpointer.ts";
import { silentLog } from "../../src/log.ts";
import type { OpenCall, SavedExecution } from "../../src/sandbox/checkpointer.ts";
import type { Outcome } from "../../src/sandbox/contract.ts";
import { openDatabase } from "../../src/store/database.ts";
import { ExecutionStore } from "../../src/store/executions.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary.ts";

let folder: TemporaryFolder;
let database: Database;
let store: ExecutionStore;
let opened: PromiseWithResolvers<StoreAccess>;
beforeEach(async () => {
  folder = temporaryFolder();
  database = await openDatabase(join(folder.path, "store.sqlite"));
  store = new ExecutionStore(database);
  opened = Promise.withResolvers();
});
afterEach(() => {
  database.close();
  folder[Symbol.dispose]();
});

const access = () => ({ store, owner: "owner", engine: "engine" });

function checkpointerOf(fromStart = false): ExecutionCheckpointer {
  const told = { id: "one", config: null, startedAt: 1, request: "{}" };
  return new ExecutionCheckpointer({ ...told, maxBytes: 1e6, log: silentLog, open: () => opened.promise, fromStart });
}

const saved = { restMs: 1 } as SavedExecution;
const callOf = (call: number): OpenCall => ({ message: { type: "call", call } as OpenCall["message"] });
const answer = { type: "settle", call: 1, json: "1" } as const;

/** Fails when the store is about to make this change, as if the process had been killed before it. */
function killBefore(change: "save" | "ended"): void {
  for (const each of [change, "remove"] as const) {
    store[each] = () => {
      throw new Error("killed");
    };
  }
}

test("an answer that comes while the store is opened is stored with its call", async () => {
  const checkpointer = checkpointerOf();
  const call = callOf(1);
  checkpointer.sending(1, false);
  const saving = checkpointer.save(saved, [call]);
  call.answer = answer;
  checkpointer.answered(answer);
  opened.resolve(access());
  await saving;
  expect(store.calls("one")).toMatchObject([{ call: 1, state: "answered", answer: JSON.stringify(answer) }]);
});

test("an answered call whose answer nobody has any more counts as sent", async () => {
  const checkpointer = checkpointerOf();
  checkpointer.sending(1, false);
  checkpointer.answered(answer);
  opened.resolve(access());
  await checkpointer.save(saved, [callOf(1)]);
  expect(store.calls("one")).toMatchObject([{ call: 1, state: "sent", repeatable: false }]);
});

test("an execution that has begun is stored with its program, or not at all", async () => {
  const checkpointer = checkpointerOf();
  opened.resolve(access());
  checkpointer.sending(1, false);
  killBefore("save");
  await checkpointer.save(saved, [callOf(1)]);
  expect(store.get("one")).toBeUndefined();
});

test("an execution that has ended is stored with its outcome, or not at all", async () => {
  const checkpointer = checkpointerOf();
  opened.resolve(access());
  checkpointer.want();
  killBefore("ended");
  await checkpointer.ended({ ok: true } as Outcome);
  expect(store.get("one")).toBeUndefined();
});

test("no call leaves after the execution was given up", async () => {
  const checkpointer = checkpointerOf(true);
  opened.resolve(access());
  await checkpointer.begun;
  await checkpointer.save(saved, [callOf(1)]);
  checkpointer.release();
  expect(() => checkpointer.sending(1, false)).toThrow("The call was not made");
  expect(store.calls("one")).toMatchObject([{ call: 1, state: "made" }]);
});
