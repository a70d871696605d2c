/** The jobs that change which executions are stored, who runs them, and what became of their calls. */
import {
  askToCancel,
  callAnswered,
  callSent,
  callStates,
  callText,
  claimExecution,
  endExecution,
  endSaving,
  insertExecution,
  messageOf,
  type NewCalls,
  outcomeOf,
  releaseExecution,
  removeLabels,
  replaceCalls,
  saveExecution,
  textOf,
  wantExecution,
} from "../execution-table.ts";
import type { JobName, StoreJobs } from "../jobs.ts";
import { type Database, first, run, tell, type Values, type Work } from "../work.ts";
import { bucketIsMissing } from "./bucket.ts";
import type { Changes } from "./changes.ts";
import { byClaim, type Claims, claimed, lostClaim } from "./claims.ts";
import type { Connections } from "./connections.ts";
import { hasObjectPages, type Objects } from "./objects.ts";
import { isAliveIn, type Owners } from "./owners.ts";
import { deleteOlder, deletePages } from "./pages.ts";
import type { Room } from "./room.ts";

export function executionJobs({
  connections,
  owners,
  claims,
  changes,
  room,
  objects,
}: JobParts): Jobs<Exclude<JobName, "begin" | "pages" | "record" | "image" | "records">> {
  const calls: NewCalls = new Map();

  /** This process writes no more for the execution. */
  const drop = (execution: string) => {
    claims.drop(execution);
    calls.delete(execution);
    changes.tellSoon();
  };

  /** One statement, which may run twice. */
  const changeCall = async (execution: string, set: string, values: Values & { call: number }): Promise<undefined> => {
    const claim = claims.required(execution);
    const statement = `WITH held AS (${claimed}), changed AS
        (UPDATE claudikins.calls SET ${set} FROM held WHERE calls.execution = held.id AND call = $call)
      SELECT id FROM held`;
    const held = await connections.read(() => first(statement, { ...values, execution, ...claim }));
    if (!held) throw lostClaim(execution);
  };

  const textIn = async (execution: string, call: number, column: "message" | "answer") =>
    messageOf(await connections.read(() => callText(execution, call, column)));

  return {
    add: async (execution, { roomBytes, owner, ...added }) => {
      await room.require(roomBytes, added.request.length);
      await connections.write(() => insertExecution(execution, owner, added));
      claims.made(execution, { owner, number: 1 });
      changes.tellSoon();
      return undefined;
    },

    save: async (execution, input) => {
      const isNew = input.request !== undefined;
      const claim = isNew ? { owner: input.owner, number: 1 } : claims.required(execution);
      const fresh = [...(calls.get(execution)?.values() ?? [])];
      const left = await connections.write(function* () {
        if (isNew) {
          yield* endFirstSave(execution, claims);
          yield* insertExecution(execution, input.owner, input);
        }
        if ((yield* saveExecution(byClaim(execution, claim), input)) === 0) throw lostClaim(execution);
        yield* replaceCalls(execution, { fresh, open: input.open });
        if (input.program) return yield* deleteOlder(execution, input.version, input.pages);
        return yield* deletePages(execution);
      });
      objects.removeSoon(left);
      claims.made(execution, claim);
      calls.delete(execution);
      changes.tellSoon();
      return undefined;
    },

    ended: async (execution, { owner, ...ended }) => {
      const claim = owner === undefined ? claims.required(execution) : { owner, number: 1 };
      const left = await connections.write(function* () {
        if (owner !== undefined) yield* insertExecution(execution, owner, ended);
        if ((yield* endExecution(byClaim(execution, claim), ended)) === 0) throw lostClaim(execution);
        yield* endSaving(execution);
        yield* run("DELETE FROM claudikins.calls WHERE execution = $execution", { execution });
        return yield* deletePages(execution);
      });
      objects.removeSoon(left);
      drop(execution);
      return undefined;
    },

    remove: async (execution) => {
      objects.removeSoon(await connections.write(() => remove(execution, claims)));
      drop(execution);
      return undefined;
    },

    claim: async (execution, { owner, from }) => {
      // Otherwise it would be lost: this process cannot read it.
      if (!objects.areHere && (await connections.read(() => hasObjectPages(execution)))) throw bucketIsMissing();
      // A process whose lease was renewed at the last moment keeps its executions.
      const isFree = `NOT ${isAliveIn("CAST($from AS TEXT)")}`;
      const number = await connections.write(() => claimExecution(execution, { owner, from }, isFree));
      if (number === undefined) return false;
      claims.made(execution, { owner, number });
      changes.tellSoon();
      return true;
    },

    release: async (execution, { owner }) => {
      const claim = claims.of(execution);
      if (claim?.owner !== owner) return undefined;
      await connections.read(() => releaseExecution(byClaim(execution, claim)));
      claims.drop(execution);
      changes.tellSoon();
      return undefined;
    },

    want: async (execution) => {
      await connections.read(() => wantExecution(execution));
      return undefined;
    },

    askToCancel: async (execution) => {
      await connections.write(function* () {
        yield* askToCancel(execution);
        yield* tell();
      });
      return undefined;
    },

    outcome: (execution) => connections.read(() => outcomeOf(execution)),

    call: async (execution, input) => {
      calls.getOrInsertComputed(execution, () => new Map()).set(input.call, input);
      return undefined;
    },

    sent: async (execution, { call, repeatable }) => {
      // A process that counts as dead for others makes no calls.
      await owners.requireAlive(claims.required(execution).owner);
      return changeCall(execution, callSent, { call, repeatable });
    },

    answered: async (execution, { roomBytes, ...answer }) => {
      const stored = textOf(answer);
      if (stored.text !== null && !(await room.has(roomBytes, stored.text.length))) return undefined;
      return changeCall(execution, callAnswered, { call: answer.call, ...stored });
    },

    calls: (execution) => connections.read(() => callStates(execution)),
    message: (execution, { call }) => textIn(execution, call, "message"),
    answer: (execution, { call }) => textIn(execution, call, "answer"),
  };
}

/** Throws EXECUTION_LOST if this process seemed dead meanwhile, and another one has deleted the pages. */
function* endFirstSave(execution: string, claims: Claims): Work<void> {
  const owner = claims.savingOwner(execution);
  if (owner === undefined) return;
  const statement = "DELETE FROM claudikins.saving WHERE execution = $execution AND owner = $owner";
  if ((yield* run(statement, { execution, owner })) === 0) throw lostClaim(execution);
}

/** Without a claim, only what nobody runs is removed. Returns the objects to remove. */
function* remove(execution: string, claims: Claims): Work<string[]> {
  const claim = claims.of(execution);
  const isOurs = claim ? "owner = $owner AND claims = $number" : `(owner IS NULL OR NOT ${isAliveIn("owner")})`;
  yield* run(`DELETE FROM claudikins.executions WHERE id = $execution AND ${isOurs}`, { execution, ...claim });
  const left = "SELECT 1 AS one FROM claudikins.executions WHERE id = $execution";
  if (yield* first(left, { execution })) {
    if (claim) throw lostClaim(execution);
    return [];
  }
  yield* endSaving(execution);
  yield* removeLabels(execution);
  return yield* deletePages(execution);
}

/** The parts of the store. */
export interface StoreParts {
  connections: Connections;
  owners: Owners;
  changes: Changes;
  room: Room;
  objects: Objects;
  /** Called with what went wrong and was made up for. */
  warn: (text: string) => void;
}

/** The parts of one writer. */
export interface JobParts extends Omit<StoreParts, "connections"> {
  connections: Database;
  claims: Claims;
}

/** The functions that do some of the jobs. */
export type Jobs<Name extends JobName> = {
  [Each in Name]: (execution: string, input: StoreJobs[Each]["input"]) => Promise<StoreJobs[Each]["output"]>;
};
