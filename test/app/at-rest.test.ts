/** A process that stays open gives memory back when nothing has run for a while, and the next call does not notice. */
import { describe, expect, setDefaultTimeout, spyOn, test } from "bun:test";
import { join } from "node:path";
import { App } from "../../src/app/app.ts";
import { unchangedMappings } from "../../src/base/give-back-memory.ts";
import { IdleTimer } from "../../src/base/idle-timer.ts";
import { silentLog } from "../../src/base/log.ts";
import { Watched } from "../../src/base/watched.ts";
import { loadConfig } from "../../src/config/load.ts";
import { CallerEnvironment } from "../../src/daemon/caller-apps.ts";
import { runDaemon } from "../../src/daemon/daemon.ts";
import { placeAt } from "../../src/daemon/place.ts";
import { SharedServers } from "../../src/daemon/shared/shared-servers.ts";
import { Sandbox } from "../../src/sandbox/sandbox.ts";
import { root } from "../support/claudikins.ts";
import { ownFolder } from "../support/own-folder.ts";
import { runProgram, testEnvironment } from "../support/process.ts";
import { fixture } from "../support/servers.ts";
import { inSession } from "../support/session.ts";

setDefaultTimeout(60_000);

const folder = ownFolder();

/** Long enough for the test's own steps, and short enough to wait for. */
const afterMs = 100;

test("a rest begins once, a while after the last work has ended", async () => {
  let rests = 0;
  let next = Promise.withResolvers<void>();
  using timer = new IdleTimer(() => {
    rests += 1;
    next.resolve();
  }, afterMs);
  const one = timer.running();
  const other = timer.running();
  one[Symbol.dispose]();
  await Bun.sleep(3 * afterMs);
  expect({ rests, isRunning: timer.isRunning }).toEqual({ rests: 0, isRunning: true });
  other[Symbol.dispose]();
  const endedAt = performance.now();
  await next.promise;
  expect(performance.now() - endedAt).toBeGreaterThan(afterMs / 2);
  await Bun.sleep(3 * afterMs);
  expect(rests).toBe(1);
  next = Promise.withResolvers();
  timer.restart();
  await next.promise;
  expect(rests).toBe(2);
});

test("a timer that was disposed of starts no rest", async () => {
  let rests = 0;
  const timer = new IdleTimer(() => {
    rests += 1;
  }, 1);
  const work = timer.running();
  timer[Symbol.dispose]();
  work[Symbol.dispose]();
  await Bun.sleep(50);
  expect(rests).toBe(0);
});

describe("pages of the program", () => {
  test("are unmapped only if none of their mapping was changed, and if nobody may write them", () => {
    const mapping = (range: string, flags: string, file: string, anonymousKb: number) =>
      `${range} ${flags} 00001000 fe:00 5351414                            ${file}\nSize: 8 kB\nAnonymous:  ${anonymousKb} kB\nVmFlags: rd mr\n`;
    const smaps = [
      mapping("00200000-00202000", "r--p", "/opt/my claudikins", 0),
      mapping("01a40000-01a44000", "r-xp", "/opt/my claudikins", 0),
      mapping("0684a000-0684b000", "rw-p", "/opt/my claudikins", 0),
      mapping("0685f000-06867000", "r--p", "/opt/my claudikins", 12),
      mapping("7f0600000000-7f0600001000", "r-xp", "/usr/lib/libc.so.6", 0),
      mapping("7f0700000000-7f0700001000", "r-xp", "", 0),
    ].join("");
    expect(unchangedMappings(smaps, "/opt/my claudikins")).toEqual([
      { start: 0x200000, bytes: 0x2000 },
      { start: 0x1a40000, bytes: 0x4000 },
    ]);
  });

  const unmapped = `
    import { readFileSync } from "node:fs";
    import { giveBackMemory } from ${JSON.stringify(join(root, "src", "base", "give-back-memory.ts"))};
    const mapped = () => Number(/^RssFile:\\s+(\\d+)/m.exec(readFileSync("/proc/self/status", "utf8"))[1]);
    const before = mapped();
    await giveBackMemory(() => ISOVER);
    console.log(JSON.stringify({ isLess: mapped() < before - 4_096, works: [3, 1, 2].toSorted().join() }));
    process.exitCode = 7;
  `;

  test.skipIf(process.platform !== "linux")("are unmapped at rest, and the program continues to work", async () => {
    const run = (isOver: boolean) =>
      runProgram([process.execPath, "-e", unmapped.replace("ISOVER", String(isOver))], { env: testEnvironment() });
    const works = "1,2,3";
    const rested = await run(false);
    expect({ ...rested, stdout: JSON.parse(rested.stdout) }).toMatchObject({
      exitCode: 7,
      stdout: { isLess: true, works },
    });
    expect(JSON.parse((await run(true)).stdout)).toEqual({ isLess: false, works });
  });
});

/** Resolves with the next call of `Bun.shrink`, the last step of a rest in a test. */
function nextRest(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const shrink = spyOn(Bun, "shrink").mockImplementation(() => {
    shrink.mockRestore();
    resolve();
  });
  return promise;
}

const firstLine = ({ content }: object & { content?: unknown }) =>
  (content as { text: string }[])[0]!.text.split("\n")[0]!;

for (const mode of ["code", "direct"]) {
  test(`a session in ${mode} mode rests before its first call and after each one`, async () => {
    folder.write("claudikins.json", { mode, mcpServers: { seen: fixture("seen", folder.path) } });
    const first = nextRest();
    const call =
      mode === "direct"
        ? { name: "seen", arguments: {} }
        : { name: "execute_code", arguments: { code: "return (await seen.seen({})).pid" } };
    await inSession(
      folder.path,
      async (client) => {
        await first;
        const second = nextRest();
        const before = firstLine(await client.callTool(call));
        await second;
        // The answer contains the process id of the server, which keeps running.
        expect(before).toMatch(/\d+/);
        expect(firstLine(await client.callTool(call))).toBe(before);
      },
      { idleAfterMs: afterMs },
    );
  });
}

test("files of a program survive a rest", async () => {
  await inSession(
    folder.path,
    async (client) => {
      const run = (code: string) => client.callTool({ name: "execute_code", arguments: { code } });
      const rest = nextRest();
      await run("await fs.writeFile('./workspace/kept.txt', 'kept')");
      await rest;
      expect(JSON.stringify(await run("return await fs.readFile('./workspace/kept.txt', 'utf8')"))).toContain("kept");
    },
    { idleAfterMs: afterMs },
  );
});

test("a session does not rest while a call runs", async () => {
  const first = nextRest();
  await inSession(
    folder.path,
    async (client, { sandbox }) => {
      await first;
      const released = spyOn(sandbox, "releaseWorkers");
      const rest = nextRest();
      const code = `await new Promise((done) => setTimeout(done, ${5 * afterMs})); return 1`;
      await client.callTool({ name: "execute_code", arguments: { code } });
      expect(released).toHaveBeenCalledTimes(0);
      await rest;
      expect(released).toHaveBeenCalledTimes(1);
    },
    { idleAfterMs: afterMs },
  );
});

test("the daemon rests before its first call and after each one", async () => {
  folder.write("claudikins.json", { mcpServers: { seen: fixture("seen", folder.path) } });
  const env = { PATH: process.env["PATH"], HOME: folder.path, CI: "true" };
  const config = await loadConfig({ cwd: folder.path, env });
  await using sharedServers = new SharedServers(silentLog, undefined);
  const place = placeAt(join(folder.path, "d.sock"));
  const first = nextRest();
  await using app = new App(config, new Sandbox(), {
    env,
    cwd: folder.path,
    log: silentLog,
    openChannel: sharedServers.channels(() => env, "test"),
    idleAfterMs: afterMs,
  });
  const over = new AbortController();
  const listening = Promise.withResolvers<void>();
  const ended = runDaemon(app, {
    place,
    sharedServers,
    environment: new CallerEnvironment(env),
    cwd: folder.path,
    files: new Watched(() => ""),
    programsBehind: () => app.config.savedPrograms,
    openDoor: () => Promise.reject(new Error("there is no door")),
    interrupted: over.signal,
    log: silentLog,
    onListening: listening.resolve,
  });
  await listening.promise;
  const call = async () => {
    const answer = await fetch("http://localhost/call", {
      unix: place.socket,
      method: "POST",
      body: JSON.stringify({ server: "seen", tool: "seen", args: {} }),
    });
    return { status: answer.status, body: await answer.json() };
  };
  await first;
  const second = nextRest();
  const before = await call();
  await second;
  expect(before.status).toBe(200);
  expect(await call()).toEqual(before);
  over.abort();
  expect(await ended).toBe("ended");
});
