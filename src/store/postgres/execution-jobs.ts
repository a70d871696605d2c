/** The jobs that change which executions are stored, and who runs them. */
import { parsedJson, valueAt } from "../../base/json-object.ts";
import { largeJsonChars } from "../../base/limits.ts";
import type { NewExecution, StoreJobs } from "../jobs.ts";
import { executionHolder } from "../labels.ts";
import { type NewCalls, replaceCalls } from "./call-jobs.ts";
import { tellOnCommit } from "./changes.ts";
import { type Claim, type Claims, isClaimed, lostClaim } from "./claims.ts";
import type { JobParts, Jobs } from "./job-parts.ts";
import { isAliveIn } from "./owners.ts";
import { deleteOlder, deletePages } from "./pages.ts";
import type { Querying } from "./querying.ts";

export function executionJobs(
  { connections, claims, changes, room }: JobParts,
  calls: NewCalls,
): Jobs<"add" | "save" | "ended" | "remove" | "claim" | "release" | "want" | "askToCancel" | "outcome"> {
  return {
    add: async (execution, { roomBytes, owner, ...added }) => {
      await room.require(roomBytes, added.request.length);
      await connections.transaction((querying) => insert(execution, owner, added, querying));
      claims.made(execution, { owner, number: 1 });
      changes.tellSoon();
      return undefined;
    },

    save: async (execution, input) => {
      const isNew = input.request !== undefined;
      const claim = isNew ? { owner: input.owner, number: 1 } : claims.required(execution);
      const fresh = calls.get(execution)?.values() ?? [];
      await connections.transaction(async (querying) => {
        if (isNew) {
          await endSaving(execution, claims, querying);
          await insert(execution, input.owner, input, querying);
        }
        await save(execution, claim, input, querying);
        await replaceCalls(execution, { fresh: [...fresh], open: input.open }, querying);
        if (input.program) await deleteOlder(execution, input.version, input.pages, querying);
        else await deletePages(execution, querying);
      });
      claims.made(execution, claim);
      calls.delete(execution);
      changes.tellSoon();
      return undefined;
    },

    ended: async (execution, { owner, outcome, value, isOk, ...added }) => {
      const claim = owner === undefined ? claims.required(execution) : { owner, number: 1 };
      await connections.transaction(async (querying) => {
        if (owner !== undefined) await insert(execution, owner, added, querying);
        await end(execution, claim, { outcome, value, isOk }, querying);
        await querying.run("DELETE FROM claudikins.saving WHERE execution = $execution", { execution });
        await querying.run("DELETE FROM claudikins.calls WHERE execution = $execution", { execution });
        await deletePages(execution, querying);
      });
      claims.drop(execution);
      calls.delete(execution);
      changes.tellSoon();
      return undefined;
    },

    remove: async (execution) => {
      await connections.transaction((querying) => remove(execution, claims, querying));
      claims.drop(execution);
      calls.delete(execution);
      changes.tellSoon();
      return undefined;
    },

    claim: async (execution, { owner, from }) => {
      const number = await connections.transaction((querying) => claim(execution, { owner, from }, querying));
      if (number === undefined) return false;
      claims.made(execution, { owner, number });
      changes.tellSoon();
      return true;
    },

    release: async (execution, { owner }) => {
      const claim = claims.of(execution);
      if (claim?.owner !== owner) return undefined;
      const statement = `UPDATE claudikins.executions SET owner = NULL, changed_at = $now WHERE ${isClaimed}`;
      await connections.each((querying) => querying.run(statement, { execution, ...claim, now: Date.now() }));
      claims.drop(execution);
      changes.tellSoon();
      return undefined;
    },

    want: async (execution) => {
      const statement = "UPDATE claudikins.executions SET is_wanted = TRUE WHERE id = $execution";
      await connections.each((querying) => querying.run(statement, { execution }));
      return undefined;
    },

    askToCancel: async (execution) => {
      await connections.transaction(async (querying) => {
        await querying.run(
          "UPDATE claudikins.executions SET is_cancelled = TRUE WHERE id = $execution AND state = 'open'",
          { execution },
        );
        await tellOnCommit(querying);
      });
      return undefined;
    },

    outcome: async (execution) => {
      const statement = "SELECT outcome, value FROM claudikins.executions WHERE id = $execution";
      const row = await connections.each((querying) =>
        querying.get<{ outcome: string | null; value: string | null }>(statement, { execution }),
      );
      return { outcome: row?.outcome ?? undefined, value: row?.value ?? undefined };
    },
  };
}

async function insert(
  execution: string,
  owner: string,
  { config = null, startedAt = 0, request = "", isWanted = false }: Partial<NewExecution>,
  querying: Querying,
): Promise<undefined> {
  const client = valueAt(parsedJson(request), ["starter", "client"]);
  await querying.run(
    `INSERT INTO claudikins.executions (id, config, state, owner, claims, started_at, changed_at, is_wanted, request, client)
     VALUES ($execution, $config, 'open', $owner, 1, $startedAt, $now, $isWanted, $request, $client)`,
    {
      execution,
      config,
      owner,
      startedAt,
      now: Date.now(),
      isWanted,
      request,
      client: typeof client === "string" ? client : null,
    },
  );
}

/** Throws EXECUTION_LOST if this process seemed dead meanwhile, and another one has deleted the pages. */
async function endSaving(execution: string, claims: Claims, querying: Querying): Promise<void> {
  const owner = claims.savingOwner(execution);
  if (owner === undefined) return;
  const statement = "DELETE FROM claudikins.saving WHERE execution = $execution AND owner = $owner";
  if ((await querying.run(statement, { execution, owner })) === 0) throw lostClaim(execution);
}

async function save(
  execution: string,
  claim: Claim,
  { program, unsaved, wakeAt, engine }: StoreJobs["save"]["input"],
  querying: Querying,
): Promise<void> {
  const saved = await querying.run(
    `UPDATE claudikins.executions SET program = $program, unsaved = $unsaved, wake_at = $wakeAt, engine = $engine, changed_at = $now
     WHERE ${isClaimed}`,
    { execution, ...claim, program, unsaved, wakeAt, engine, now: Date.now() },
  );
  if (saved === 0) throw lostClaim(execution);
}

async function end(
  execution: string,
  claim: Claim,
  { outcome, value, isOk }: Pick<StoreJobs["ended"]["input"], "outcome" | "value" | "isOk">,
  querying: Querying,
): Promise<void> {
  const isApart = value === undefined || outcome.length + value.length > largeJsonChars;
  const ended = await querying.run(
    `UPDATE claudikins.executions SET state = 'ended', owner = NULL, program = NULL, unsaved = NULL, wake_at = NULL, outcome = $outcome,
       value = $value, is_ok = $isOk, changed_at = $now
     WHERE ${isClaimed}`,
    {
      execution,
      ...claim,
      outcome: isApart ? outcome : `${outcome.slice(0, -1)},"value":${value}}`,
      value: isApart ? value : null,
      isOk,
      now: Date.now(),
    },
  );
  if (ended === 0) throw lostClaim(execution);
}

/** Without a claim, only what nobody runs is removed. */
async function remove(execution: string, claims: Claims, querying: Querying): Promise<void> {
  const claim = claims.of(execution);
  const isOurs = claim ? "owner = $owner AND claims = $number" : `(owner IS NULL OR NOT ${isAliveIn("owner")})`;
  const removed = `DELETE FROM claudikins.executions WHERE id = $execution AND ${isOurs}`;
  await querying.run(removed, { execution, ...claim });
  const left = "SELECT 1 AS one FROM claudikins.executions WHERE id = $execution";
  if (await querying.get(left, { execution })) {
    if (claim) throw lostClaim(execution);
    return;
  }
  await querying.run("DELETE FROM claudikins.saving WHERE execution = $execution", { execution });
  await deletePages(execution, querying);
  await querying.run("DELETE FROM claudikins.labels WHERE holder = $holder", { holder: executionHolder(execution) });
}

/** Returns the number of the claim. A process whose lease was renewed at the last moment keeps its executions. */
async function claim(
  execution: string,
  { owner, from }: StoreJobs["claim"]["input"],
  querying: Querying,
): Promise<number | undefined> {
  const row = await querying.get<{ claims: number }>(
    `UPDATE claudikins.executions SET owner = $owner, claims = claims + 1, changed_at = $now
     WHERE id = $execution AND owner IS NOT DISTINCT FROM $from::text AND state = 'open'
       AND NOT ${isAliveIn("$from::text")}
     RETURNING claims`,
    { execution, owner, from, now: Date.now() },
  );
  return row?.claims;
}
