/** Events and notifications at replicas: one of them takes each, also when another one is killed. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { signedHeaders } from "../../../scripts/harnesses/events/senders.ts";
import { claudikinsCommand } from "../../support/command.ts";
import { eventually } from "../../support/eventually.ts";
import { ownFolder } from "../../support/own-folder.ts";
import { type PostgresFixture, postgresFixture, postgresNote } from "../../support/postgres.ts";
import { runProgram } from "../../support/process.ts";
import { killReplica, openReplicas } from "../../support/replicas.ts";
import { fixture } from "../../support/servers.ts";

setDefaultTimeout(120_000);

const folder = ownFolder();

describe.skipIf(postgresNote !== "")(`replicas${postgresNote}`, () => {
  let server: PostgresFixture;
  beforeAll(async () => {
    server = await postgresFixture();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  async function claudikins(database: string, ...argv: string[]) {
    const env = { XDG_DATA_HOME: join(folder.path, "laptop"), CLAUDIKINS_DATABASE: database };
    const { exitCode, stdout, stderr } = await runProgram([...claudikinsCommand, ...argv], { cwd: folder.path, env });
    return { exitCode, stdout, stderr };
  }

  test("run each event once, whichever of them gets it and even if one is killed", async () => {
    const counts = join(folder.path, "counts");
    folder.write("claudikins.json", { mcpServers: { counting: fixture("counting", counts) } });
    folder.write("take.ts", "return counting.act({ name: input.event.body.id });");
    const secret = "a secret of all replicas";
    await using set = await openReplicas(folder, server, 2, { env: { HOOK: secret } });
    const { database, all } = set;
    const schema = '{"type":"object","properties":{"event":{}}}';
    await claudikins(database, "programs", "save", "take.ts", "--name", "take", "--input-schema", schema);
    const own = await claudikins(database, "programs", "on", "take", "--webhook", "stripe", "--secret", "HOOK");
    expect(own.stderr).toContain("The secrets of this machine are not those of the replicas");
    const flags = ["--webhook", "stripe", "--secret", "${HOOK}", "--json"];
    const { trigger } = JSON.parse((await claudikins(database, "programs", "on", "take", ...flags)).stdout);
    const send = async (id: string, replica: number) => {
      const body = JSON.stringify({ id });
      const headers = signedHeaders("stripe", secret, body, id, Date.now());
      const at = new URL(trigger.path, all[replica]!.url);
      return (await fetch(at, { method: "POST", headers, body })).status;
    };
    // The trigger is known a moment after it was added.
    for (const replica of [0, 1]) await eventually(async () => (await send("0", replica)) === 202, { everyMs: 100 });
    const ids = Array.from({ length: 12 }, (_, place) => String(place));
    const answers = await Promise.all(ids.flatMap((id) => [send(id, 0), send(id, 1)]));
    expect(new Set(answers)).toEqual(new Set([202]));
    await killReplica(all[0]!, server, database);
    const late = ["late 1", "late 2"];
    for (const id of late) expect(await send(id, 1)).toBe(202);
    const deliveries = async () => {
      const { stdout } = await claudikins(database, "programs", "deliveries", "--json");
      return JSON.parse(stdout).deliveries as { state: string; message?: string }[];
    };
    const ended = await eventually(
      async () => {
        const found = await deliveries();
        return found.every(({ state }) => state === "done" || state === "dead") ? found : undefined;
      },
      { withinMs: 90_000, everyMs: 500 },
    );
    expect(ended).toHaveLength(ids.length + late.length);
    const calls = existsSync(counts) ? readFileSync(counts, "utf8").trim().split("\n") : [];
    expect(new Set(calls).size).toBe(calls.length);
    // A call that the killed replica had sent has an effect that nobody knows.
    for (const { message } of ended.filter(({ state }) => state === "dead")) expect(message).toContain("nobody knows");
    expect(ended.filter(({ state }) => state === "done").length).toBeLessThanOrEqual(calls.length);
  });

  test("tell each outcome once, even if one is killed while it tells", async () => {
    folder.write("claudikins.json", { mcpServers: {} });
    folder.write("nightly.ts", "return input.number;");
    const told: string[] = [];
    /** Answers slowly, so that requests are under way when the replica is killed. */
    await using receiver = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      async fetch(request) {
        const { data } = (await request.json()) as { data: { execution: string } };
        told.push(data.execution);
        await Bun.sleep(500);
        return new Response();
      },
    });
    await using set = await openReplicas(folder, server, 2);
    const { database, all } = set;
    const run = async (...argv: string[]) => {
      const { exitCode, stdout, stderr } = await claudikins(database, "programs", ...argv);
      expect([argv, exitCode, exitCode === 0 ? "" : stderr]).toEqual([argv, 0, ""]);
      return stdout;
    };
    await run("save", "nightly.ts", "--name", "nightly", "number:=0");
    await run("notify", "nightly", "--when", "done", "--webhook", `http://127.0.0.1:${receiver.port}/hook`);
    const outcomes = async (numbers: readonly number[]) => {
      await Promise.all(numbers.map((number) => run("run", "nightly", `number:=${number}`)));
    };
    await outcomes([1, 2, 3, 4]);
    await eventually(() => told.length > 0, { withinMs: 30_000, everyMs: 5 });
    await killReplica(all[0]!, server, database);
    await outcomes([5, 6]);
    const ended = await eventually(
      async () => {
        const found = JSON.parse(await run("deliveries", "--json")).deliveries as { state: string; message?: string }[];
        const isOver = found.length === 6 && found.every(({ state }) => state === "done" || state === "dead");
        return isOver ? found : undefined;
      },
      { withinMs: 90_000, everyMs: 500 },
    );
    expect(new Set(told).size).toBe(told.length);
    const done = ended.filter(({ state }) => state === "done");
    // A request that the killed replica had sent may have arrived, so that nobody sends it again.
    for (const { message } of ended.filter(({ state }) => state === "dead"))
      expect(message).toBe("nobody knows whether it was notified");
    expect(told.length).toBeGreaterThanOrEqual(done.length);
    expect(done.length).toBeGreaterThanOrEqual(2);
  });
});
