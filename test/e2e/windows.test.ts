/** The executable for Windows, under Wine. docs/windows.md says what this shows and what it does not. */
import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { releaseServer } from "../setup/upgrade/release-server.ts";
import { eventually } from "../support/eventually.ts";
import { processesWith } from "../support/process.ts";
import { buildForWindows, noWine, WindowsMachine, windowsPath } from "../support/wine.ts";

setDefaultTimeout(300_000);

const modules = join(import.meta.dir, "..", "..", "node_modules", "@modelcontextprotocol");
/** The result of a run that adds 1 and 2. An assertion on the whole result shows stderr. */
const sum = { code: 0, stdout: "The sum of 1 and 2 is 3.\n" };
const program = (server: string) => windowsPath(join(modules, server, "dist", "index.js"));

if (noWine !== undefined) console.error(`test/e2e/windows.test.ts is skipped: it ${noWine}`);

describe.skipIf(noWine !== undefined)("on Windows", () => {
  let machine: WindowsMachine;
  /** The config as Windows sees it. */
  let config: string;

  beforeAll(async () => {
    machine = await WindowsMachine.create();
    // As npm makes them: a batch file that is found by PATHEXT and starts the program.
    machine.write("my tools/everything.cmd", `@echo off\n"%~dp0claudikins.exe" "${program("server-everything")}" %*\n`);
    const asBun = { BUN_BE_BUN: "1" };
    const file = machine.write("project/claudikins.json", {
      mcpServers: {
        everything: { command: "everything", args: ["stdio"], env: asBun },
        files: {
          command: windowsPath(machine.executable),
          args: [program("server-filesystem"), "${USERPROFILE}"],
          env: asBun,
        },
      },
    });
    config = windowsPath(file);
  });
  // A process that Wine keeps from running would make the next tests fail too.
  afterEach(async () => {
    await machine.run(["daemon", "stop", "--all", "--now"]);
    for (const pid of left()) Bun.spawnSync(["kill", "-KILL", String(pid)]);
  });
  afterAll(async () => {
    await machine[Symbol.asyncDispose]();
  });

  const left = () => processesWith(machine.path.replaceAll("/", "\\"));
  const servers = () => left().length;
  const runs = (...args: string[]) => machine.run([...args, "--config", config, "--trust"]);

  test("a program calls a server and returns its value", async () => {
    const code = "const { total } = await demo.list_orders(); return total";
    const { code: exit, stdout, stderr } = await machine.run(["exec", "--no-daemon", "-e", code]);
    expect({ exit, stdout }).toEqual({ exit: 0, stdout: "2400\n" });
    expect(stderr).toContain("[1 call");
  });

  test("servers are found by PATHEXT and started through batch files, and arguments keep every character", async () => {
    const code = `const message = '100 % & "quoted" %PATH% ^ <x> ö';
return [(await everything.echo({ message })) === "Echo: " + message, await everything.get_sum({ a: 1, b: 2 })]`;
    const { stdout, stderr } = await runs("exec", "--no-daemon", "-e", code);
    expect(JSON.parse(stdout || JSON.stringify(stderr))).toEqual([true, "The sum of 1 and 2 is 3."]);
  });

  test("variables of Windows work in a config", async () => {
    const { stdout } = await runs("exec", "--no-daemon", "-e", "return await files.list_allowed_directories()");
    expect(stdout).toMatch(/C:\\+users\\+/i);
  });

  // Wine does not end every process of a job whose owner was killed.
  const again = { retry: 2 };

  const ended = async () => {
    await runs("exec", "--no-daemon", "-e", "return await everything.get_sum({ a: 1, b: 2 })");
    expect(servers()).toBe(0);
    const waiting = "await everything.get_sum({ a: 1, b: 2 }); await new Promise(() => {})";
    const { child } = machine.start(["exec", "--no-daemon", "-e", waiting, "--config", config, "--trust"]);
    // claudikins, cmd.exe, and the server behind the batch file.
    await eventually(() => servers() >= 3, { everyMs: 50 });
    child.kill("SIGKILL");
    await eventually(() => servers() === 0, { everyMs: 50 });
    const { code } = await runs("exec", "--no-daemon", "--timeout", "3", "-e", waiting);
    expect(code).not.toBe(0);
    expect(servers()).toBe(0);
  };
  test("no server is left when a program ends, is killed, or runs out of time", ended, again);

  test("one daemon listens on a named pipe, serves every command, and leaves nothing when it is stopped", async () => {
    const code = "return await everything.get_sum({ a: 1, b: 2 })";
    for (let turn = 0; turn < 2; turn++) {
      expect(await runs("exec", "-e", code)).toMatchObject(sum);
    }
    const folder = join(machine.home, ".local", "share", "claudikins", "run");
    const socket = readdirSync(folder).find((name) => name.endsWith(".sock")) ?? "";
    expect(readFileSync(join(folder, socket), "utf8")).toMatch(/^\\\\\.\\pipe\\claudikins-[0-9a-f]{32}$/);
    const status = await machine.run(["daemon", "status", "--json"]);
    expect(JSON.parse(status.stdout).daemons).toMatchObject([{ calls: { done: 2 }, config }]);
    const { stdout } = await runs("call", "everything.get-sum", "a:=2", "b:=3");
    expect(stdout).toContain("The sum of 2 and 3 is 5.");
    expect((await machine.run(["daemon", "stop", "--all"])).code).toBe(0);
    await eventually(() => servers() === 0, { everyMs: 50 });
    expect(existsSync(join(folder, socket))).toBeFalse();
  });

  const replaced = async () => {
    await machine.run(["daemon", "stop", "--all", "--now"]);
    const code = "return await everything.get_sum({ a: 1, b: 2 })";
    expect(await runs("exec", "-e", code)).toMatchObject(sum);
    const [daemon] = processesWith("daemon run --config").filter((pid) =>
      readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(windowsPath(machine.path)),
    );
    process.kill(daemon ?? 0, "SIGKILL");
    await eventually(() => servers() === 0, { everyMs: 50 });
    expect(await runs("exec", "-e", code)).toMatchObject(sum);
  };
  // Beside much other work, a daemon that Wine started after the kill has stood still, with its main thread. Windows itself does not run here.
  test("a killed daemon is replaced by the next command, and its servers end", replaced, again);

  test("an agent is served over stdio", async () => {
    const initialize = {
      protocolVersion: "2025-06-18",
      capabilities: {},
      clientInfo: { name: "test", version: "1" },
    };
    const stdin = [
      { jsonrpc: "2.0", id: 1, method: "initialize", params: initialize },
      { jsonrpc: "2.0", method: "notifications/initialized" },
      { jsonrpc: "2.0", id: 2, method: "tools/list" },
    ];
    const text = stdin.map((each) => `${JSON.stringify(each)}\n`).join("");
    const { stdout } = await machine.run(["serve", "--no-daemon"], { stdin: text });
    const answers = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(answers.map(({ id, result }) => [id, result.tools?.map(({ name }: { name: string }) => name)])).toEqual([
      [1, undefined],
      [2, ["search_tools", "execute_code"]],
    ]);
  });

  test("a generated file is a program that calls its tool through the daemon", async () => {
    expect(await runs("setup")).toMatchObject({ code: 0 });
    const file = join(machine.path, "project", ".claudikins", "registry", "testing", "everything", "get_sum.ts");
    await machine.run(["trust", config, "--yes"]);
    const env = { BUN_BE_BUN: "1", CI: "true" };
    const { stdout, stderr } = await machine.run([windowsPath(file), "a:=4", "b:=5"], { env });
    expect({ stdout, stderr }).toMatchObject({ stdout: expect.stringContaining("The sum of 4 and 5 is 9.") });
    await machine.run(["daemon", "stop", "--all"]);
  });

  test("init finds Claude Desktop and puts claudikins in the place of its servers; restore undoes it", async () => {
    const file = join(machine.home, "AppData", "Roaming", "Claude", "claude_desktop_config.json");
    const settings = {
      mcpServers: {
        files: { command: "npx.cmd", args: ["-y", "@modelcontextprotocol/server-filesystem", "%APPDATA%"] },
      },
    };
    const before = JSON.stringify(settings, null, 2);
    await Bun.write(file, before);
    const { code, stderr } = await machine.run(["init", "--apply"]);
    expect({ code, stderr: code === 0 ? "" : stderr }).toEqual({ code: 0, stderr: "" });
    const { mcpServers } = JSON.parse(readFileSync(file, "utf8"));
    expect(Object.keys(mcpServers)).toEqual(["claudikins"]);
    expect(mcpServers.claudikins.command).toBe(windowsPath(machine.executable));
    const own = readFileSync(join(machine.home, ".config", "claudikins", "claudikins.json"), "utf8");
    expect(own).toContain('"${APPDATA}"');
    expect(await machine.run(["restore"])).toMatchObject({ code: 0 });
    expect(readFileSync(file, "utf8")).toBe(before);
  });

  test("a detached program runs in the daemon, and is waited for by its id", async () => {
    const { stdout } = await machine.run(["exec", "--detach", "--json", "-e", "await sleep(200); return 7"]);
    const { execution } = JSON.parse(stdout);
    expect((await machine.run(["executions", "wait", execution])).stdout).toBe("7\n");
    await machine.run(["daemon", "stop", "--all"]);
  });

  test("upgrade replaces the executable that runs, ends the daemon, and leaves nothing beside it", async () => {
    const code = "return await everything.get_sum({ a: 1, b: 2 })";
    expect(await runs("exec", "-e", code)).toMatchObject(sum);
    using releases = releaseServer();
    const next = join(machine.path, "next.exe");
    buildForWindows("0.2.0", next);
    await releases.release("0.2.0", next, "claudikins.exe", "windows-x64");
    const before = readdirSync(machine.bin).sort();
    const env = { CLAUDIKINS_BASE_URL: releases.url };
    const { code: exit, stdout, stderr } = await machine.run(["upgrade", "--json"], { env });
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: "" });
    expect(JSON.parse(stdout)).toMatchObject({ from: "0.1.0", to: "0.2.0", upgraded: true, daemons: 1 });
    expect((await machine.run(["--version"])).stdout).toBe("0.2.0\n");
    expect(await runs("exec", "-e", code)).toMatchObject(sum);
    await machine.run(["daemon", "stop", "--all"]);
    // Windows removes no program that runs, so the old executable goes later.
    expect((await machine.run(["upgrade", "--json"], { env })).code).toBe(0);
    expect(readdirSync(machine.bin).sort()).toEqual(before);
  });

  test("the daemon serves the local page", async () => {
    const { stdout } = await machine.run(["ui", "--json"]);
    const { url } = JSON.parse(stdout);
    const response = await fetch(new URL(url));
    expect([response.status, await response.text()]).toEqual([200, expect.stringContaining("<title>")]);
    await machine.run(["daemon", "stop", "--all", "--now"]);
  });
});
