/** Which executions a process gets that no process runs, and what becomes of those that cannot be continued. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { ContinuationHandlers, FailedAttempts } from "../../../src/store/executions.ts";
import { PostgresStore } from "../../../src/store/postgres/store.ts";
import { eventually } from "../../support/eventually.ts";
import { type PostgresFixture, postgresFixture, postgresNote } from "../../support/postgres.ts";

setDefaultTimeout(60_000);

describe.skipIf(postgresNote !== "")(`executions that no process runs${postgresNote}`, () => {
  let server: PostgresFixture;
  beforeAll(async () => {
    server = await postgresFixture();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  /** Stores an execution. The values are SQL. */
  const stored = (url: string, id: string, values: Record<string, string> = {}) => {
    const row = {
      id: `'${id}'`,
      config: "'/team.json'",
      state: "'open'",
      owner: "NULL",
      claims: "1",
      started_at: "1",
      changed_at: "1",
      is_wanted: "TRUE",
      engine: "'1.0.0 2'",
      program: "'\\x00'",
      request: `'{"source":""}'`,
      ...values,
    };
    return server.run(
      url,
      `INSERT INTO claudikins.executions (${Object.keys(row).join(", ")}) VALUES (${Object.values(row).join(", ")})`,
    );
  };

  /** Takes executions until it is disposed of. `got` are those that it got. */
  const taking = async (store: PostgresStore, more: Partial<ContinuationHandlers> = {}) => {
    const got: string[] = [];
    const problems: string[] = [];
    const process = await store.takeOwner();
    const continuing = await store.continuations.take({
      config: "/team.json",
      door: undefined,
      format: "2",
      continueHere: async (id) => {
        got.push(id);
        // So that nobody gets it again.
        const from = (await store.executions.get(id))!.owner;
        await store.executions.writer().do("claim", id, { owner: process.name, from });
      },
      giveUp: async () => {},
      onProblem: (text) => void problems.push(text),
      ...more,
    });
    return {
      got,
      problems,
      [Symbol.asyncDispose]: async () => {
        await continuing[Symbol.asyncDispose]();
        await process[Symbol.asyncDispose]();
      },
    };
  };

  test("are only those of the door if the process serves one", async () => {
    const url = await server.database();
    await using store = new PostgresStore(url);
    await store.checkWritable();
    await stored(url, "behind-qa", { request: `'{"source":"","door":"qa"}'` });
    await stored(url, "behind-ops", { request: `'{"source":"","door":"ops"}'` });
    await stored(url, "behind-none");
    await using ofDoor = await taking(store, { door: "qa" });
    await eventually(() => ofDoor.got.length > 0);
    await using ofAll = await taking(store);
    await eventually(() => ofAll.got.length >= 2);
    expect(ofDoor.got).toEqual(["behind-qa"]);
    expect(ofAll.got.sort()).toEqual(["behind-none", "behind-ops"]);
  });

  test("are given to one process each, a few at once, and to others while one is busy", async () => {
    const url = await server.database();
    await using first = new PostgresStore(url);
    await using second = new PostgresStore(url);
    await first.checkWritable();
    const ids = Array.from({ length: 60 }, (_, index) => `e${index}`);
    for (const id of ids) await stored(url, id);
    const busy: string[] = [];
    const hold = Promise.withResolvers<void>();
    await using _ = await taking(first, {
      continueHere: (id) => {
        busy.push(id);
        return hold.promise;
      },
    });
    await eventually(() => busy.length >= 4);
    await using other = await taking(second);
    await eventually(() => other.got.length >= 56);
    expect(busy).toHaveLength(4);
    expect([...busy, ...other.got].sort()).toEqual(ids.sort());
    hold.resolve();
  });

  test("are given up after the last attempt, with the number of attempts and the last failure", async () => {
    const url = await server.database();
    await using store = new PostgresStore(url);
    await store.checkWritable();
    await stored(url, "e");
    let attempts = 0;
    let atEnd: number | undefined;
    const given: [string, FailedAttempts][] = [];
    await using _ = await taking(store, {
      continueHere: async () => {
        attempts += 1;
        throw new Error(`failure ${attempts}`);
      },
      giveUp: async (id, failed) => {
        // The execution stays open here, so that another job may begin afterwards.
        atEnd ??= attempts;
        given.push([id, failed]);
      },
    });
    // Nobody waits for the pauses.
    const hurry = "UPDATE claudikins_jobs.job SET start_after = now() WHERE state = 'retry'";
    await eventually(async () => given.length > 0 || !(await server.run(url, hurry)), { everyMs: 100 });
    expect(given.slice(0, 1)).toEqual([["e", { attempts: 7, problem: "failure 7" }]]);
    expect(atEnd).toBe(7);
    // The stored failure has no stack.
    const [job] = await server.run(url, "SELECT output FROM claudikins_jobs.job WHERE state = 'failed'");
    expect(job).toEqual({ output: { name: "Error", message: "failure 7", stack: "" } });
  });

  test("are those of the config and the format that are due and that somebody waits for", async () => {
    const url = await server.database();
    await using store = new PostgresStore(url);
    await store.checkWritable();
    const soon = Date.now() + 3_600_000;
    await server.run(
      url,
      "INSERT INTO claudikins.owners VALUES ('alive', now() + interval '1 hour'), ('dead', now() - interval '1 hour')",
    );
    await stored(url, "released");
    await stored(url, "of-a-dead-process", { owner: "'dead'" });
    await stored(url, "of-a-process-that-is-forgotten", { owner: "'forgotten'" });
    await stored(url, "with-a-timer-that-is-over", { wake_at: "1" });
    await stored(url, "not-begun", { program: "NULL", engine: "NULL" });
    await stored(url, "that-a-person-approved", { is_wanted: "FALSE" });
    await stored(url, "that-a-person-denied", { is_wanted: "FALSE" });
    await stored(url, "of-a-living-process", { owner: "'alive'" });
    await stored(url, "with-a-timer", { wake_at: String(soon), owner: "'dead'" });
    await stored(url, "of-another-config", { config: "'/other.json'" });
    await stored(url, "of-the-demo", { config: "NULL" });
    await stored(url, "of-another-format", { engine: "'1.0.0 3'" });
    await stored(url, "that-was-not-saved", { program: "NULL", unsaved: "'it is too large'" });
    await stored(url, "that-has-ended", { state: "'ended'" });
    await stored(url, "that-nobody-waits-for", { is_wanted: "FALSE" });
    await stored(url, "that-ran-on-after-the-decision", { is_wanted: "FALSE", changed_at: "100" });
    const decided = [
      ["that-a-person-approved", "approved"],
      ["that-a-person-denied-program", "denied"],
      ["that-ran-on-after-the-decision", "approved"],
      ["that-nobody-waits-for", "open"],
      ["that-nobody-waits-for", "withdrawn"],
    ];
    for (const [index, [execution, state]] of decided.entries()) {
      await server.run(
        url,
        `INSERT INTO claudikins.approvals (id, execution, call, owner, server, tool, excerpt, args_chars, args_bytes, why, told, bound, state, asked_at, expires_at, decided_at)
         VALUES ('a${index}', '${execution}', 1, 'dead', 's', 't', '', 0, 0, '', '', '{}', '${state}', 1, ${soon}, 50)`,
      );
    }
    await using taken = await taking(store);
    const due = [
      "not-begun",
      "of-a-dead-process",
      "of-a-process-that-is-forgotten",
      "released",
      "that-a-person-approved",
      "that-a-person-denied",
      "with-a-timer-that-is-over",
    ];
    // The lease of the dead one holds for 15 seconds after the start of the server, which the tests above have used up.
    await eventually(() => taken.got.length >= due.length);
    // Another look finds nothing else.
    await stored(url, "released-later");
    await store.executions.writer().do("askToCancel", "released-later", {});
    await eventually(() => taken.got.includes("released-later"));
    expect(taken.got.sort()).toEqual([...due, "released-later"].sort());
    expect(taken.problems).toEqual([]);
  });

  test("are given to another process if theirs dies meanwhile, also after the database was restarted", async () => {
    const url = await server.database();
    await using store = new PostgresStore(url);
    await store.checkWritable();
    await stored(url, "e");
    let attempts = 0;
    await using _ = await taking(store, {
      continueHere: async (_, stopping) => {
        attempts += 1;
        if (attempts === 1) await new Promise((resolve) => stopping.addEventListener("abort", resolve));
      },
    });
    await eventually(() => attempts === 1);
    await server.restart();
    // As if the process had died long ago.
    const silent =
      "UPDATE claudikins_jobs.job SET heartbeat_on = now() - interval '1 hour', start_after = now() WHERE state IN ('active', 'retry')";
    await eventually(async () => attempts > 1 || !(await server.run(url, silent).catch(() => [])), { everyMs: 100 });
  });
});
