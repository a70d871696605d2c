/** Quotas of a config, a door and a server: what counts, what waits, what is refused, and what the error says. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { App } from "../../src/app/app.ts";
import { type CliOptions, cli } from "../cli/in-memory.ts";
import { eventually } from "../support/eventually.ts";
import { ownFolder } from "../support/own-folder.ts";
import { fixture } from "../support/servers.ts";
import { inSession } from "../support/session.ts";

setDefaultTimeout(60_000);

const folder = ownFolder();

function configure(config: object, server: object = {}): void {
  const counting = { ...fixture("counting", join(folder.path, "counts")), ...server };
  folder.write("claudikins.json", { mcpServers: { counting }, ...config });
}

const calls = () => {
  const file = join(folder.path, "counts");
  return existsSync(file) ? readFileSync(file, "utf8").split("\n").length - 1 : 0;
};

async function run(argv: string[], options: CliOptions = {}) {
  const { exitCode, stdout, stderr } = await cli([...argv, "--json"], { cwd: folder.path, ...options });
  return exitCode === 0
    ? { exitCode, ...JSON.parse(stdout) }
    : { exitCode, ...JSON.parse(stderr.trim().split("\n").at(-1) ?? "") };
}

/** Waits if the minute is about to end, so that all calls of a test are in one. */
async function inOneMinute(): Promise<void> {
  const left = 60_000 - (Date.now() % 60_000);
  if (left < 15_000) await Bun.sleep(left + 100);
}

const start = (app: App, source: string) => app.executions().then((all) => all.start({ source }, app).outcome);

describe("calls a minute", () => {
  test.each([
    ["the config", { quotas: { callsPerMinute: 3 } }, {}, "3 calls a minute is the quota of the config"],
    ["a server", {}, { quotas: { callsPerMinute: 3 } }, '3 calls a minute is the quota of the server "counting"'],
  ])("for %s are counted over processes, and the error says when to come back", async (_, config, server, message) => {
    configure(config, server);
    await inOneMinute();
    expect((await run(["exec", "-e", "for (let n = 0; n < 2; n++) await counting.act({}); return 1"])).value).toBe(1);
    expect((await run(["call", "counting.act"])).exitCode).toBe(0);
    const { exitCode, error } = await run(["call", "counting.act"]);
    expect({ exitCode, error }).toMatchObject({ exitCode: 4, error: { code: "QUOTA_REACHED" } });
    expect(error.message).toContain(message);
    expect(error.hint).toMatch(/^The next call is possible in \d+ s, at \d{4}-/);
    const caught = await run([
      "exec",
      "-e",
      "try { await counting.act({}) } catch (error) { return [error.code, error.hint] }",
    ]);
    expect(caught.value).toEqual(["QUOTA_REACHED", expect.stringContaining("The next call is possible in")]);
    expect(calls()).toBe(3);
  });

  test("for a door count for it alone, and for the config they count for all its doors", async () => {
    configure({ quotas: { callsPerMinute: 3 }, doors: { qa: { quotas: { callsPerMinute: 1 } }, ops: {} } });
    await inOneMinute();
    expect((await run(["call", "counting.act", "--door", "qa"])).exitCode).toBe(0);
    const second = await run(["call", "counting.act", "--door", "qa"]);
    expect(second.error.message).toContain('1 call a minute is the quota of the door "qa"');
    expect((await run(["call", "counting.act", "--door", "ops"])).exitCode).toBe(0);
    expect((await run(["call", "counting.act"])).exitCode).toBe(0);
    const fourth = await run(["call", "counting.act", "--door", "ops"]);
    expect(fourth.error.message).toContain("3 calls a minute is the quota of the config");
  });

  test("begin again with the next minute", async () => {
    configure({ quotas: { callsPerMinute: 1 } });
    await inOneMinute();
    await inSession(folder.path, async (_, app) => {
      expect(await start(app, "return await counting.act({})")).toMatchObject({ ok: true });
      expect(await start(app, "return await counting.act({})")).toMatchObject({ ok: false });
      const now = Date.now;
      Date.now = () => now() + 60_000;
      try {
        expect(await start(app, "return await counting.act({})")).toMatchObject({ ok: true });
      } finally {
        Date.now = now;
      }
    });
  });
});

test("bytes of a day are counted with arguments and results, over processes", async () => {
  configure({ quotas: { mbPerDay: 0.01 } });
  const large = `await counting.act({ name: "x".repeat(6_000) }); return 1`;
  expect((await run(["exec", "-e", large])).value).toBe(1);
  expect((await run(["exec", "-e", large])).value).toBe(1);
  const { error } = await run(["exec", "-e", large]);
  expect(error.message).toContain("0.01 MB a day is the quota of the config");
  expect(calls()).toBe(2);
});

test("concurrent calls beyond the quota wait, and programs get turns", async () => {
  configure({ quotas: { callsAtOnce: 2 } });
  await inSession(folder.path, async (_, app) => {
    const until = join(folder.path, "until");
    const waiting = `await Promise.all(Array.from({ length: 20 }, (_, n) => counting.wait({ name: "many" + n, until: ${JSON.stringify(until)} }))); return 1`;
    const many = start(app, waiting);
    await eventually(() => calls() === 2);
    const small = start(
      app,
      'await fs.writeFile("./workspace/begun", ""); await counting.act({ name: "small" }); return 2',
    );
    await eventually(() => existsSync(join(app.config.folders.workspace, "begun")));
    await Bun.sleep(300);
    expect(calls()).toBe(2);
    folder.write("until", "");
    expect((await small).ok && (await many).ok).toBe(true);
    const order = readFileSync(join(folder.path, "counts"), "utf8")
      .split("\n")
      .map((line) => line.slice(0, 30));
    expect(order.findIndex((line) => line.includes("small"))).toBeLessThanOrEqual(4);
  });
});

test("concurrent executions beyond the quota wait, except the programs that they call", async () => {
  configure({ quotas: { executionsAtOnce: 1 } });
  folder.write("inner.ts", "return counting.act({});");
  expect((await run(["programs", "save", "inner.ts", "--name", "inner"])).exitCode).toBe(0);
  await inSession(folder.path, async (_, app) => {
    const until = join(folder.path, "until");
    const first = start(app, `await counting.wait({ until: ${JSON.stringify(until)} }); return await programs.inner()`);
    await eventually(() => calls() === 1);
    const second = start(app, "await counting.act({}); return 2");
    await Bun.sleep(300);
    expect(calls()).toBe(1);
    folder.write("until", "");
    expect(await first).toMatchObject({ ok: true });
    expect(await second).toMatchObject({ ok: true, value: 2 });
    const cancelled = new AbortController();
    const third = (await app.executions()).start({ source: "await sleep(5000)" }, app);
    const fourth = (await app.executions()).start({ source: "return 4", signal: cancelled.signal }, app);
    fourth.cancel();
    expect(await fourth.outcome).toMatchObject({ ok: false, reason: "cancelled" });
    third.cancel();
    await third.outcome;
  });
});

test.each([
  [{ quotas: { callsPerMinute: 0 } }, "quotas.callsPerMinute"],
  [{ quotas: { callsPerHour: 1 } }, "callsPerHour"],
  [{ doors: { qa: { quotas: { mbPerDay: -1 } } } }, "doors.qa.quotas.mbPerDay"],
])("the quotas %j are refused", async (config, message) => {
  configure(config);
  expect((await run(["list"])).error.message).toContain(message);
});
