/** Replicas that share a Postgres: who runs which execution, and what a replica may write that was only slow. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { PostgresStore } from "../../../src/store/postgres/store.ts";
import { eventually } from "../../support/eventually.ts";
import { type PostgresFixture, postgresFixture, postgresNote } from "../../support/postgres.ts";
import { call, newExecution, outcome, roomBytes, saved, stored } from "./executions.ts";

setDefaultTimeout(60_000);

describe.skipIf(postgresNote !== "")(`replicas on one Postgres${postgresNote}`, () => {
  let server: PostgresFixture;
  beforeAll(async () => {
    server = await postgresFixture();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  /** Ends the leases of all processes but this one. A lease that only runs out holds for a while after the start of the server. */
  const endLeases = (url: string, but: string) =>
    server.run(url, `DELETE FROM claudikins.owners WHERE name <> '${but}'`);

  test("claim 50 executions at once, and each execution gets one owner", async () => {
    const url = await server.database();
    await using first = new PostgresStore(url);
    await using second = new PostgresStore(url);
    const executions = Array.from({ length: 50 }, (_, index) => `e${index}`);
    const dead = first.executions.writer();
    for (const each of executions) await stored(dead, each, "a process that has died");
    const claims = async (store: PostgresStore): Promise<string[]> => {
      await using owner = await store.takeOwner();
      const writer = store.executions.writer();
      const claim = async (each: string) =>
        (await writer.do("claim", each, { owner: owner.name, from: "a process that has died" })) ? [each] : [];
      return (await Promise.all(executions.map(claim))).flat();
    };
    const [ofFirst, ofSecond] = await Promise.all([claims(first), claims(second)]);
    expect([...ofFirst, ...ofSecond].sort()).toEqual(executions.sort());
  });

  test("can neither call nor write for an execution that another one has claimed while they were stopped", async () => {
    const url = await server.database();
    await using slow = await replica(url);
    const withoutProgram = { ...saved(slow.name), program: undefined, unsaved: "it is too large" };
    for (const job of [
      ["add", "e", { ...newExecution, owner: slow.name, roomBytes }],
      ["call", "e", call],
      ["save", "e", withoutProgram],
      ["sent", "e", { call: 1, repeatable: false }],
    ] as const) {
      expect(await slow.do(job)).toBe("done");
    }
    slow.signal("SIGSTOP");

    await using store = new PostgresStore(url);
    await using owner = await store.takeOwner();
    const writer = store.executions.writer();
    expect(await store.isAlive(slow.name)).toBe(true);
    expect(await writer.do("claim", "e", { owner: owner.name, from: slow.name })).toBe(false);
    await endLeases(url, owner.name);
    expect(await store.isAlive(slow.name)).toBe(false);
    expect(await writer.do("claim", "e", { owner: owner.name, from: slow.name })).toBe(true);
    const before = await server.run(url, "SELECT * FROM claudikins.executions, claudikins.calls");

    slow.signal("SIGCONT");
    for (const job of [
      ["sent", "e", { call: 1, repeatable: true }],
      ["answered", "e", { call: 1, roomBytes, value: "2" }],
      ["pages", "e", { version: 1, roomBytes }],
      ["save", "e", withoutProgram],
      ["ended", "e", outcome],
      ["remove", "e", {}],
    ] as const) {
      expect([job[0], await slow.do(job)]).toEqual([job[0], "EXECUTION_LOST"]);
    }
    // Its lease holds again by now, and it still has lost the execution.
    await eventually(() => store.isAlive(slow.name));
    expect(await slow.do(["release", "e", { owner: slow.name }])).toBe("done");
    expect(await server.run(url, "SELECT * FROM claudikins.executions, claudikins.calls")).toEqual(before);
    expect(await server.run(url, "SELECT * FROM claudikins.pages")).toEqual([]);
    await writer.do("ended", "e", outcome);
    expect((await store.executions.get("e"))?.state).toBe("ended");
  });

  test("do not save a program whose pages were deleted because they seemed dead", async () => {
    const url = await server.database();
    await using store = new PostgresStore(url);
    await using other = new PostgresStore(url);
    await using owner = await store.takeOwner();
    const writer = store.executions.writer();
    await writer.do("begin", "e", { owner: owner.name });
    const batch = { pages: Float64Array.of(1), sizes: Float64Array.of(2), bytes: new ArrayBuffer(2) };
    await writer.do("pages", "e", { ...batch, version: 1, roomBytes });
    await other.executions.writer().deleteOrphans(async (name) => other.isAlive(name));
    expect(await server.run(url, "SELECT page FROM claudikins.pages")).toHaveLength(1);
    await endLeases(url, "nobody");
    await other.executions.writer().deleteOrphans(async (name) => other.isAlive(name));
    expect(await server.run(url, "SELECT page FROM claudikins.pages")).toEqual([]);
    const late = [
      writer.do("save", "e", { ...newExecution, ...saved(owner.name) }),
      writer.do("pages", "e", { ...batch, version: 2, roomBytes }),
    ];
    for (const each of late) expect(await each.catch((error) => error.code)).toBe("EXECUTION_LOST");
    expect(await store.executions.list()).toEqual([]);
  });

  test("do not write pages of a program that has ended meanwhile", async () => {
    const url = await server.database();
    await using store = new PostgresStore(url);
    await using owner = await store.takeOwner();
    const writer = store.executions.writer();
    await stored(writer, "e", owner.name);
    await writer.do("ended", "e", outcome);
    const batch = { pages: Float64Array.of(1), sizes: Float64Array.of(1), bytes: new ArrayBuffer(1) };
    const writing = writer.do("pages", "e", { ...batch, version: 2, roomBytes });
    await expect(writing).rejects.toMatchObject({ code: "EXECUTION_LOST" });
    expect(await server.run(url, "SELECT * FROM claudikins.pages")).toEqual([]);
  });

  test("are alive until they end, or until their lease ends if they were killed", async () => {
    const url = await server.database();
    await using store = new PostgresStore(url);
    const [ended, killed] = [await replica(url), await replica(url)];
    await ended[Symbol.asyncDispose]();
    killed.signal("SIGKILL");
    await killed.exited;
    expect(await store.isAlive(ended.name)).toBe(false);
    expect(await store.isAlive(killed.name)).toBe(true);
    await endLeases(url, "nobody");
    expect(await store.isAlive(killed.name)).toBe(false);
  });

  test("notice changes by the others, also after their connections were cut", async () => {
    const url = await server.database();
    await using store = new PostgresStore(url);
    await using other = new PostgresStore(url);
    await other.checkWritable();
    let told = 0;
    const stop = store.onChange(() => {
      told += 1;
    });
    const isTold = async () => {
      const before = told;
      await other.executions.writer().do("askToCancel", "e", {});
      await eventually(() => told > before, { withinMs: 5_000 });
    };
    await eventually(() => told > 0);
    await isTold();
    const before = told;
    await server.cut(url);
    // Something may have changed meanwhile.
    await eventually(() => told > before, { withinMs: 5_000 });
    await isTold();
    stop();
  });
});

interface Replica extends AsyncDisposable {
  name: string;
  do(job: readonly [name: string, execution: string, input: object]): Promise<string>;
  signal(name: NodeJS.Signals): void;
  exited: Promise<number>;
}

async function replica(url: string): Promise<Replica> {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "replica.ts"), url], {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "inherit",
  });
  const { Readable } = await import("node:stream");
  const lines = createInterface({ input: Readable.fromWeb(child.stdout as never) })[Symbol.asyncIterator]();
  const next = async () => (await lines.next()).value as string;
  return {
    name: await next(),
    do: async (job) => {
      child.stdin.write(`${JSON.stringify(job)}\n`);
      child.stdin.flush();
      return next();
    },
    signal: (name) => child.kill(name),
    exited: child.exited,
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGCONT");
      child.stdin.end();
      await child.exited;
    },
  };
}
