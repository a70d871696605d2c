/** However the program ends, it leaves no processes. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { executable } from "../support/claudikins.ts";
import { eventually } from "../support/eventually.ts";
import { processesLeft, processesWith, testEnvironment } from "../support/process.ts";
import { everything, filesystem, fixture, memory } from "../support/servers.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary.ts";

// Real servers start slowly on a small machine.
setDefaultTimeout(60_000);

/** Servers that end normally, one that refuses to end and has a child, and one that is still starting. */
function project(): TemporaryFolder {
  const folder = temporaryFolder();
  const marked = (entry: { command: string; args: string[] }) => ({ ...entry, args: [...entry.args, folder.path] });
  folder.write("claudikins.json", {
    mcpServers: {
      everything: marked(everything()),
      files: filesystem(folder.path),
      memory: memory(join(folder.path, "memory.jsonl")),
      stubborn: fixture("stubborn", folder.path),
      starting: fixture("never-starts", folder.path),
    },
  });
  return folder;
}

/**
 * Uses every server. One never starts; its name is put together, since code that names a
 * server waits for its tools, and the call is kept and looked at, since one that is let go of is waited for.
 */
const code = `
const kept = [servers["start" + "ing"].anything({}).catch(() => {})];
await Promise.all([everything.echo({ message: "x" }), files.list_allowed_directories({}), memory.read_graph({}), stubborn.hello({})]);
`;

function start(folder: TemporaryFolder, args: string[]) {
  return Bun.spawn([executable(), ...args], {
    cwd: folder.path,
    env: testEnvironment(),
    stdin: "pipe",
    stdout: "pipe",
    stderr: "pipe",
  });
}

/** Waits until the five servers and the stubborn server's child run. */
async function allRunning(folder: TemporaryFolder): Promise<void> {
  await eventually(() => processesWith(folder.path).length >= 6);
}

const request = (id: number, method: string, params: object) =>
  `${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`;
const initialize = request(1, "initialize", {
  protocolVersion: "2025-06-18",
  capabilities: {},
  clientInfo: { name: "test", version: "1" },
});
const initialized = `${JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" })}\n`;

describe("exec", () => {
  test("leaves no process after a normal end", async () => {
    using folder = project();
    const child = start(folder, ["exec", "-e", `${code}\nreturn "done"`]);
    expect(await child.stdout.text()).toBe("done\n");
    expect(await child.exited).toBe(0);
    expect(await processesLeft(folder.path)).toEqual([]);
  });

  test.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)(
    "leaves no process after %s while code runs, and exits with 130",
    async (signal) => {
      using folder = project();
      const child = start(folder, ["exec", "-e", `${code}\nwhile (true) {}`]);
      await allRunning(folder);
      child.kill(signal);
      expect(await child.exited).toBe(130);
      expect(await child.stderr.text()).toContain("The execution was cancelled");
      expect(await processesLeft(folder.path)).toEqual([]);
    },
  );

  test("ends at once at the second signal, without the grace period of the stubborn server", async () => {
    using folder = project();
    const child = start(folder, ["exec", "-e", `${code}\nwhile (true) {}`]);
    await allRunning(folder);
    child.kill("SIGINT");
    // The end of the code is reported before the servers are ended.
    const reader = child.stderr.getReader();
    await reader.read();
    child.kill("SIGINT");
    expect(await child.exited).toBe(130);
    // The watchdog would wait for a second.
    expect(await processesLeft(folder.path, 900)).toEqual([]);
  });
});

describe("serve", () => {
  const endings: [string, (child: ReturnType<typeof start>) => unknown][] = [
    ["stdin EOF", (child) => child.stdin.end()],
    ["SIGINT", (child) => child.kill("SIGINT")],
    ["SIGTERM", (child) => child.kill("SIGTERM")],
  ];
  test.each(endings)("leaves no process after %s while code runs", async (_, end) => {
    using folder = project();
    const child = start(folder, ["serve"]);
    child.stdin.write(initialize + initialized);
    child.stdin.write(
      request(2, "tools/call", { name: "execute_code", arguments: { code: `${code}\nwhile (true) {}` } }),
    );
    await child.stdin.flush();
    await allRunning(folder);
    await end(child);
    expect(await child.exited).toBe(0);
    expect(await processesLeft(folder.path)).toEqual([]);
  });
});
