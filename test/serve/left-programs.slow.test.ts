/**
 * Three replicas on one Postgres with 30 programs, while replicas are killed, stand still and end, and the database restarts. For more
 * rounds: REPLICAS_ROUNDS=20 REPLICAS_SEED=7 bun test ./test/serve/left-programs.slow.test.ts
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { PostgresStore } from "../../src/store/postgres/store.ts";
import { eventually } from "../support/eventually.ts";
import { sdkHost } from "../support/http-serve.ts";
import { ownFolder } from "../support/own-folder.ts";
import { type PostgresFixture, postgresFixture, postgresNote } from "../support/postgres.ts";
import { type Replica, type Replicas, replicasIn } from "../support/serve-replicas.ts";

const rounds = Number(process.env["REPLICAS_ROUNDS"] ?? 1);
const seed = Number(process.env["REPLICAS_SEED"] ?? 1);
setDefaultTimeout(180_000);

const folder = ownFolder();

/** Numbers from 0 to 1, the same for the same seed. */
function randomOf(seed: number): () => number {
  let state = seed * 2_654_435_761;
  return () => {
    state = (Math.imul(state ^ (state >>> 15), 2_246_822_519) + 3_266_489_917) | 0;
    return (state >>> 0) / 2 ** 32;
  };
}

interface Started {
  id: string;
  key: string;
}

/** A call whose effect is unknown is not made again. */
const helper = (key: string) => `
  const unknown: string[] = [];
  const once = async (name: string, call: (name: string) => Promise<unknown>) => {
    try { await call(${JSON.stringify(key)} + " " + name); }
    catch (error) { if (error.code !== "CALL_OUTCOME_UNKNOWN") throw error; unknown.push(name); }
  };
  const act = (name: string) => once(name, (name) => counting.act({ name }));`;

/** Programs that wait for timers, for approvals, and for a server. */
function programsFor(key: string, replicas: Replicas, random: () => number): string[] {
  const pause = () => Math.round(500 + 6_000 * random());
  return [
    `${helper(`${key} timer`)}
     let sum = 0;
     for (let turn = 1; turn <= 4; turn += 1) { await act("turn " + turn); await sleep([${pause()}, ${pause()}, ${pause()}, ${pause()}][turn - 1]); sum += turn; }
     return { value: "${key} timer " + sum, unknown };`,
    `${helper(`${key} approval`)}
     await act("before");
     await once("approved", (name) => guarded.act({ name }));
     await act("after");
     return { value: "${key} approval", unknown };`,
    `${helper(`${key} wait`)}
     await once("wait", (name) => counting.wait({ name, until: ${JSON.stringify(replicas.until(key))} }));
     await act("after");
     return { value: "${key} wait", unknown };`,
  ];
}

const namesOf = {
  timer: ["turn 1", "turn 2", "turn 3", "turn 4"],
  approval: ["before", "approved", "after"],
  wait: ["wait", "after"],
} as const;

const endOf = { timer: "timer 10", approval: "approval", wait: "wait" } as const;

describe.skipIf(postgresNote !== "")(`replicas of serve --http${postgresNote}`, () => {
  let server: PostgresFixture;
  beforeAll(async () => {
    server = await postgresFixture();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  const started = async (replica: Replica, replicas: Replicas, keys: string[], random: () => number) => {
    const programs = keys.flatMap((key) => programsFor(key, replicas, random));
    const ids = await replica.begin(programs);
    return ids.map((id, index): Started => {
      const kind = (["timer", "approval", "wait"] as const)[index % 3]!;
      return { id, key: `${keys[Math.floor(index / 3)]} ${kind}` };
    });
  };

  const ended = async (url: string) =>
    (await server.run(url, "SELECT id FROM claudikins.executions WHERE state <> 'ended'")).length === 0;

  /** Approves calls and answers others, at any time. Returns a function that ends this. */
  const deciding = (store: PostgresStore, replicas: Replicas, keys: readonly string[], random: () => number) => {
    let isOver = false;
    const approve = async () => {
      for (const { id } of await store.approvals.list({ state: "open" })) {
        if (random() < 0.6) continue;
        const decision = { state: "approved", scope: "once", by: "command" } as const;
        await store.approvals.change({ type: "decide", id, decision }, { pid: 1 } as never, Date.now());
      }
    };
    const done = (async () => {
      while (!isOver) {
        await Bun.sleep(1_000);
        // The database may be away at this moment.
        await approve().catch(() => {});
        for (const key of keys) if (random() < 0.3) await replicas.answer(key);
      }
    })();
    return async () => {
      isOver = true;
      await done;
    };
  };

  test.each(Array.from({ length: rounds }, (_, round) => seed + round))(
    "lose no program and make no call twice while they are killed, stand still and end (seed %i)",
    async (seed) => {
      const random = randomOf(seed);
      const url = await server.database();
      await using replicas = replicasIn(folder, url);
      await using store = new PostgresStore(url);
      const [frozen, killed, drained] = [
        await replicas.start(),
        await replicas.start(),
        await replicas.start(["--grace", "4s"]),
      ];
      const keys = Array.from({ length: 10 }, (_, index) => `p${index}`);
      const programs = [
        ...(await started(frozen, replicas, keys.slice(0, 3), random)),
        ...(await started(killed, replicas, keys.slice(3, 7), random)),
        ...(await started(drained, replicas, keys.slice(7), random)),
      ];
      const decided = deciding(store, replicas, keys, random);

      await Bun.sleep(1_000 + 2_000 * random());
      frozen.signal("SIGSTOP");
      await Bun.sleep(2_000 * random());
      await server.restart();
      await Bun.sleep(2_000 * random());
      killed.signal("SIGKILL");
      await replicas.start();
      await Bun.sleep(2_000 * random());
      drained.signal("SIGTERM");
      expect(await drained.exited).toBe(0);
      await replicas.start();
      // The lease of the one that stands still has ended, and others have its programs.
      await eventually(() => server.run(url, isTaken(programs.slice(0, 9))).then(([row]) => row!["taken"]));
      await Bun.sleep(500);
      frozen.signal("SIGCONT");

      await eventually(() => ended(url), { withinMs: 120_000, everyMs: 250 });
      await decided();
      const writer = store.executions.writer();
      const made = replicas.calls();
      for (const { id, key } of programs) {
        const { outcome = "", value } = await writer.do("outcome", id, {});
        const parsed = JSON.parse(outcome) as { ok: boolean; value?: Result; error?: object };
        expect(parsed).toMatchObject({ ok: true });
        const result = value === undefined ? parsed.value! : (JSON.parse(value) as Result);
        const [name = "", kind] = key.split(" ") as [string, keyof typeof namesOf];
        expect(result.value).toBe(`${name} ${endOf[kind]}`);
        for (const each of namesOf[kind]) {
          const count = made.filter((call) => call === `${key} ${each}`).length;
          if (result.unknown.includes(each)) expect([each, 0, 1]).toContain(count);
          else expect([key, each, count]).toEqual([key, each, 1]);
        }
      }
      expect(new Set(made).size).toBe(made.length);
      const openJobs = "SELECT name, singleton_key FROM claudikins_jobs.job WHERE state < 'completed'";
      await eventually(async () => (await server.run(url, openJobs)).length === 0, { withinMs: 20_000 });
    },
  );

  test("answer an agent that waits for a program with its id when one of them ends, and another one continues it", async () => {
    const url = await server.database();
    await using replicas = replicasIn(folder, url);
    const [first, second] = [await replicas.start(), await replicas.start()];
    const [id = ""] = await first.begin([`await guarded.act({ name: "a" }); return "done";`]);
    await using host = await sdkHost(first.url);
    const resume = (client: Client) => client.callTool({ name: "execute_code", arguments: { resume: id } });
    const waiting = resume(host.client);
    await using store = new PostgresStore(url);
    const [open] = await eventually(async () => {
      const found = await store.approvals.list({ state: "open" });
      return found.length > 0 && found;
    });
    first.signal("SIGTERM");
    expect(JSON.stringify(await waiting)).toContain(id);
    await eventually(() => second.stderr().includes(`continues ${id}`), { withinMs: 5_000 });
    const decision = { state: "approved", scope: "once", by: "command" } as const;
    await store.approvals.change({ type: "decide", id: open!.id, decision }, { pid: 1 } as never, Date.now());
    await using other = await sdkHost(second.url);
    expect(JSON.stringify(await resume(other.client))).toContain("done");
    expect(replicas.calls()).toEqual(["a"]);
    expect(await first.exited).toBe(0);
  });

  test("continue a program behind its door, and say what was tried when the door is gone", async () => {
    const url = await server.database();
    const doors = { qa: { servers: ["guarded"] } };
    await using replicas = replicasIn(folder, url, { doors });
    const first = await replicas.start();
    const [id = ""] = await first.begin([`await guarded.act({ name: "a" }); return "done";`], "qa");
    first.signal("SIGTERM");
    expect(await first.exited).toBe(0);
    const second = await replicas.start();
    await eventually(() => second.stderr().includes(`continues ${id}`));
    second.signal("SIGTERM");
    expect(await second.exited).toBe(0);

    replicasIn(folder, url, { doors: { ops: doors.qa } });
    const third = await replicas.start();
    await eventually(() => third.stderr().includes(`cannot continue ${id} now`));
    // Nobody waits for the pauses.
    const hurry = "UPDATE claudikins_jobs.job SET start_after = now() WHERE state = 'retry'";
    await eventually(async () => (await ended(url)) || !(await server.run(url, hurry)), { everyMs: 100 });
    await using store = new PostgresStore(url);
    const { outcome = "" } = await store.executions.writer().do("outcome", id, {});
    const { error } = JSON.parse(outcome) as { error: { code: string; message: string } };
    expect(error.code).toBe("EXECUTION_LOST");
    expect(error.message).toStartWith(
      "The execution could not be continued: 7 attempts have failed, the last one with: ",
    );
    expect(error.message).toContain('"qa"');
    expect(replicas.calls()).toEqual([]);
  });
});

interface Result {
  value: string;
  /** The calls whose effect is unknown. */
  unknown: string[];
}

/** Whether all of them have ended or were claimed again. */
function isTaken(programs: readonly Started[]): string {
  const ids = programs.map(({ id }) => `'${id}'`).join(", ");
  return `SELECT bool_and(claims > 1 OR state = 'ended' OR wake_at IS NOT NULL) AS taken FROM claudikins.executions WHERE id IN (${ids})`;
}
