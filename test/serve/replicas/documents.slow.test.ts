/** Tokens, saved programs and schedules that are made at one replica and count at all of them. Each has a data folder of its own. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { savedProgramsOf } from "../../../src/config/saved-programs-place.ts";
import { Schedules } from "../../../src/programs/saved/schedules.ts";
import { readDocuments } from "../../../src/store/open.ts";
import { claudikinsCommand } from "../../support/command.ts";
import { eventually } from "../../support/eventually.ts";
import { initialize, json, sdkHost } from "../../support/http-serve.ts";
import { ownFolder } from "../../support/own-folder.ts";
import { type PostgresFixture, postgresFixture, postgresNote } from "../../support/postgres.ts";
import { runProgram } from "../../support/process.ts";
import { openReplicas } from "../../support/replicas.ts";
import { fixture } from "../../support/servers.ts";

setDefaultTimeout(120_000);

const folder = ownFolder();

describe.skipIf(postgresNote !== "")(`replicas${postgresNote}`, () => {
  let server: PostgresFixture;
  beforeAll(async () => {
    server = await postgresFixture();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  /** The environment of a machine that only runs commands. */
  const machine = (database: string) => ({ XDG_DATA_HOME: join(folder.path, "laptop"), CLAUDIKINS_DATABASE: database });

  async function claudikins(database: string, ...argv: string[]): Promise<string> {
    const options = { cwd: folder.path, env: machine(database) };
    const { exitCode, stdout, stderr } = await runProgram([...claudikinsCommand, ...argv], options);
    if (exitCode !== 0) throw new Error(stderr);
    return stdout.trim();
  }

  async function statusAt(url: string, token: string): Promise<number> {
    const headers = { ...json, authorization: `Bearer ${token}` };
    const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(initialize()) });
    await response.text();
    return response.status;
  }

  test("accept a token as soon as it is made on any machine, and refuse it as soon as it is revoked on another one", async () => {
    folder.write("claudikins.json", { mcpServers: {} });
    await using set = await openReplicas(folder, server, 2, { token: "kept" });
    const urls = set.all.map(({ url }) => url);
    const token = await claudikins(set.database, "tokens", "add", "--name", "ci");
    await eventually(
      async () => (await Promise.all(urls.map((url) => statusAt(url, token)))).every((each) => each === 200),
      {
        withinMs: 2_000,
      },
    );
    expect(await claudikins(set.database, "tokens", "list")).toContain("ci");
    // The folder of no machine has it.
    for (const name of ["laptop", "data-0", "data-1"]) {
      expect(existsSync(join(folder.path, name, "claudikins", "tokens.json"))).toBe(false);
    }
    await claudikins(set.database, "tokens", "revoke", "ci");
    await eventually(
      async () => (await Promise.all(urls.map((url) => statusAt(url, token)))).every((each) => each === 401),
      {
        withinMs: 2_000,
      },
    );
  });

  test("call and list a program that an agent has saved at one of them", async () => {
    folder.write("claudikins.json", { mcpServers: { counting: fixture("counting", join(folder.path, "counts")) } });
    await using set = await openReplicas(folder, server, 2);
    const [one, other] = set.all.map(({ url }) => url) as [string, string];
    await using here = await sdkHost(one);
    await using there = await sdkHost(other);
    expect(await there.execute("return typeof programs.double")).toContain("undefined");
    await here.execute("const chosen = 4; return chosen * 2;");
    await here.execute(`return await programs.save({ name: "double", input: { number: 4 } });`);
    const isThere = async () => (await there.execute("return await programs.double({ number: 21 })")) === "42";
    await eventually(isThere, { withinMs: 4_000, everyMs: 100 });
    expect(await claudikins(set.database, "programs", "list")).toContain("double");
    await claudikins(set.database, "programs", "remove", "double");
    await eventually(async () => (await here.execute("return typeof programs.double")).includes("undefined"), {
      withinMs: 10_000,
      everyMs: 200,
    });
  });

  test("run each version of a program that was changed on another machine, and its scheduled one as it was accepted", async () => {
    folder.write("claudikins.json", { mcpServers: { counting: fixture("counting", join(folder.path, "counts")) } });
    folder.write("one.ts", "return 1;");
    folder.write("two.ts", "return 2;");
    await using set = await openReplicas(folder, server, 2);
    const { database } = set;
    await claudikins(database, "programs", "save", "one.ts", "--name", "number");
    await claudikins(database, "programs", "schedule", "number", "--cron", "0 0 1 1 *");
    await claudikins(database, "programs", "save", "two.ts", "--name", "number", "--replace");
    for (const { url } of set.all) {
      await using host = await sdkHost(url);
      const isThere = async () => (await host.execute("return await programs.number_v1({})")) === "1";
      await eventually(isThere, { withinMs: 4_000, everyMs: 100 });
      expect(await host.execute("return await programs.number({})")).toBe("2");
    }
    const shown = async () => JSON.parse(await claudikins(database, "programs", "history", "number", "--json"));
    expect((await shown()).versions).toMatchObject([
      { version: 2, current: true, accepted: false },
      { version: 1, current: false, accepted: true },
    ]);
    await claudikins(database, "programs", "remove", "number");
    await claudikins(database, "programs", "save", "two.ts", "--name", "number");
    expect((await shown()).versions).toMatchObject([{ version: 1, current: true }]);
  });

  test("run a program once that is scheduled on any machine", async () => {
    const counts = join(folder.path, "scheduled");
    folder.write("claudikins.json", { mcpServers: { counting: fixture("counting", counts) } });
    folder.write("act.ts", `return await counting.act({ name: "scheduled" });`);
    await using set = await openReplicas(folder, server, 2);
    await claudikins(set.database, "programs", "save", "act.ts", "--name", "act");
    await claudikins(set.database, "programs", "schedule", "act", "--cron", "0 0 1 1 *");
    const env = machine(set.database);
    const close = await readDocuments(env);
    try {
      const schedules = new Schedules(
        savedProgramsOf({ kind: "project", file: join(folder.path, "claudikins.json") }, env),
      );
      expect(schedules.ids()).toEqual(["act"]);
      // It was due a moment ago.
      await schedules.note("act", (schedule) => ({ ...schedule, cron: "* * * * *", createdAt: Date.now() - 60_000 }));
      await eventually(() => schedules.find("act")?.lastRun?.end?.ok);
      // Both replicas have looked by now.
      await Bun.sleep(4_000);
    } finally {
      await close();
    }
    const calls = readFileSync(counts, "utf8").trim().split("\n");
    // Another minute may have begun.
    const runs = await claudikins(set.database, "programs", "show", "act", "--json");
    expect(calls.length).toBe((JSON.parse(runs) as { runs: unknown[] }).runs.length);
    expect(calls.length).toBeLessThanOrEqual(2);
  });
});
