/** Two replicas of `serve --http` with one Postgres: what one of them begins, the other one continues, decides and counts. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Approvals } from "../../src/policy/approvals/approvals.ts";
import { claudikinsCommand } from "../support/command.ts";
import { eventually } from "../support/eventually.ts";
import { type HttpServe, httpServe, rawSession, resultText } from "../support/http-serve.ts";
import { ownFolder } from "../support/own-folder.ts";
import { type PostgresFixture, postgresFixture, postgresNote } from "../support/postgres.ts";
import { runProgram, testEnvironment } from "../support/process.ts";
import { killReplica } from "../support/replicas.ts";
import { fixture } from "../support/servers.ts";

setDefaultTimeout(120_000);

const folder = ownFolder();

describe.skipIf(postgresNote !== "")(`replicas${postgresNote}`, () => {
  let server: PostgresFixture;
  beforeAll(async () => {
    server = await postgresFixture();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  const counts = () => join(folder.path, "counts");
  const configure = (more: object = {}) =>
    folder.write("claudikins.json", { mcpServers: { counting: fixture("counting", counts()) }, ...more });

  /** Each has a data folder of its own. */
  const variables = (name: string, url: string) => ({
    XDG_DATA_HOME: join(folder.path, name),
    CLAUDIKINS_DATABASE: url,
  });

  const replica = (name: string, url: string): Promise<HttpServe> =>
    httpServe(folder, ["--lame-duck", "0s"], { env: variables(name, url) });

  /** An agent in a session of its own, to which its programs belong as long as the session is open. */
  async function agent(url: string): Promise<(args: object) => Promise<string>> {
    const session = await rawSession(url, "2025-11-25", {}, "agent");
    let lastId = 0;
    return async (args) => {
      lastId += 1;
      const params = { name: "execute_code", arguments: args };
      return resultText(await session.post({ jsonrpc: "2.0", id: lastId, method: "tools/call", params }));
    };
  }

  async function begin(execute: (args: object) => Promise<string>, code: string): Promise<string> {
    const text = await execute({ code, background: true });
    const [, id] = /\{"resume": "(\w+)"\}/.exec(text) ?? [];
    if (id === undefined) throw new Error(text);
    return id;
  }

  const calls = () =>
    existsSync(counts())
      ? readFileSync(counts(), "utf8")
          .trim()
          .split("\n")
          .map((line) => JSON.parse(line))
      : [];

  async function command(name: string, url: string, ...args: string[]): Promise<string> {
    const env = testEnvironment(variables(name, url));
    const { exitCode, stdout, stderr } = await runProgram([...claudikinsCommand, ...args], { cwd: folder.path, env });
    expect([exitCode, stderr]).toEqual([0, ""]);
    return stdout;
  }

  test("a program whose replica is killed continues in the other one, and each of its calls is made once", async () => {
    configure();
    const url = await server.database();
    await using first = await replica("first", url);
    await using second = await replica("second", url);
    const id = await begin(
      await agent(first.url),
      `await counting.act({ name: "one" }); await sleep(4_000); await counting.act({ name: "two" }); return "done"`,
    );
    await eventually(
      async () => (await server.run(url, "SELECT 1 FROM claudikins.calls WHERE state = 'answered'")).length,
    );
    await killReplica(first, server, url);
    const resume = await agent(second.url);
    await eventually(async () => (await resume({ resume: id })) === "done", { everyMs: 500 });
    expect(calls()).toEqual([
      ["act", "one"],
      ["act", "two"],
    ]);
    // Nobody has closed this session in an orderly way.
    second.signal("SIGTERM");
    expect(await second.exited).toBe(0);
    expect(await command("third", url, "trace", "--json")).toContain(id);
  });

  test("a call that a person must allow is decided by somebody with another data folder", async () => {
    configure({ policy: { confirm: { "counting.act": "always" } } });
    const url = await server.database();
    await using first = await replica("first", url);
    const execute = await agent(first.url);
    const id = await begin(execute, `return await counting.act({ name: "allowed" })`);
    const open = await eventually(async () => {
      const listed = JSON.parse(await command("third", url, "approvals", "--json")) as { approvals: { id: string }[] };
      return listed.approvals[0];
    });
    // The command itself needs a terminal.
    await using approvals = new Approvals({ env: testEnvironment(variables("third", url)) });
    await approvals.decide(open.id, { state: "approved", scope: "once", by: "command" });
    expect(await execute({ resume: id })).toContain("count");
    expect(await command("third", url, "audit", "verify")).toContain("1 ");
  });

  test("a replica that has nothing to do ends at once, even while the database is away", async () => {
    configure();
    const url = await server.database();
    await using first = await replica("first", url);
    await using second = await replica("second", url);
    await (await agent(first.url))({ code: "return 1" });
    const ended = async ({ signal, exited }: HttpServe) => {
      const before = performance.now();
      signal("SIGTERM");
      expect(await exited).toBe(0);
      return performance.now() - before;
    };
    // Usually less than a tenth of a second. The other replica would try for several seconds to reach the database.
    expect(await ended(first)).toBeLessThan(2_000);
    const away = Promise.withResolvers<void>();
    const back = server.restart(away.promise);
    await eventually(async () => (await fetch(new URL("/readyz", second.url))).status === 503);
    expect(await ended(second)).toBeLessThan(2_000);
    away.resolve();
    await back;
  });

  test("a decision about a call of a replica that has ended is for the next replica, and starts no daemon", async () => {
    configure({ policy: { confirm: { "counting.act": "always" } } });
    const url = await server.database();
    await using first = await replica("first", url);
    const id = await begin(await agent(first.url), `return await counting.act({ name: "denied" })`);
    const waiting = "SELECT id FROM claudikins.approvals WHERE state = 'open'";
    const [open] = (await eventually(async () => {
      const rows = await server.run(url, waiting);
      return rows.length > 0 && rows;
    })) as { id: string }[];
    first.signal("SIGTERM");
    expect(await first.exited).toBe(0);
    const env = testEnvironment({ ...variables("third", url), CLAUDIKINS_DAEMON: "on" });
    const denied = await runProgram([...claudikinsCommand, "approvals", "deny", open!.id], { cwd: folder.path, env });
    expect(denied).toEqual({
      exitCode: 0,
      stdout: `Denied counting.act (${open!.id})\n`,
      stderr: `note: a replica of claudikins serve --http continues execution ${id}\n`,
    });
    expect(existsSync(join(folder.path, "third", "claudikins"))).toBe(false);
    await using _second = await replica("second", url);
    const ended = `SELECT 1 FROM claudikins.executions WHERE id = '${id}' AND state = 'ended'`;
    await eventually(async () => (await server.run(url, ended)).length > 0);
    expect(calls()).toEqual([]);
  });
});
