/**
 * The first day on a machine with a proxy, a certificate and a screen, and an agent that the desktop starts: it has neither Node.js on its PATH
 * nor the variables of the shell, and it starts the daemon. After that, everything works from the shell.
 */
import { expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { executable } from "../support/claudikins.ts";
import { processesLeft } from "../support/process.ts";
import { fixture, memory } from "../support/servers.ts";
import { temporaryFolder } from "../support/temporary.ts";

setDefaultTimeout(180_000);

const node = Bun.which("node");

test.skipIf(process.platform === "win32" || node === null)(
  "a desktop agent without Node.js starts the daemon, and init, call, exec, doctor, add, stats and restore work in the shell",
  async () => {
    using folder = temporaryFolder();
    const at = (...names: string[]) => join(folder.path, ...names);
    for (const name of ["home", "runtime", "project"]) mkdirSync(at(name), { mode: 0o700 });
    const common = { HOME: at("home"), XDG_RUNTIME_DIR: at("runtime"), LANG: "C.UTF-8" };
    const desktop = { ...common, PATH: "/usr/sbin:/sbin" };
    const places = {
      HTTPS_PROXY: "http://127.0.0.1:9",
      NODE_EXTRA_CA_CERTS: folder.write("own.pem", ""),
      DISPLAY: ":77",
      SSH_AUTH_SOCK: at("agent.sock"),
      AWS_PROFILE: "work",
    };
    const shell = { ...common, ...places, PATH: `${dirname(node ?? "")}:/usr/bin:/bin`, SECRET_TOKEN: "s3cret" };
    const agents = ".cursor/mcp.json";
    const notes = memory(at("notes.jsonl"));
    const before = JSON.stringify({ mcpServers: { notes, odd: fixture("odd", folder.path) } }, null, 2);
    folder.write(`home/${agents}`, before);
    const run = async (env: Record<string, string>, ...argv: string[]) => {
      const child = Bun.spawn([executable(), ...argv], { cwd: at("project"), env, stdout: "pipe", stderr: "pipe" });
      const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
      return { exitCode: child.exitCode, stdout, stderr };
    };

    const init = await run(shell, "init", "--apply");
    expect([init.exitCode, init.stderr]).toEqual([0, expect.stringContaining("and not SECRET_TOKEN")]);

    // The desktop's agent starts the daemon with the first server that it calls.
    const { command, args } = JSON.parse(readFileSync(at("home", agents), "utf8")).mcpServers.claudikins;
    const agent = new Client({ name: "desktop", version: "1" });
    await agent.connect(new StdioClientTransport({ command, args, cwd: at("home"), env: desktop }));
    const execute = async (code: string) =>
      JSON.stringify(await agent.callTool({ name: "execute_code", arguments: { code } }));
    expect(await execute("return (await odd.structured()).answer")).toContain("42");
    expect(await execute("return await notes.read_graph({})")).toContain("command not found: node");
    expect((await run(desktop, "call", "notes.read_graph")).stderr).toContain("command not found: node");

    // The shell has Node.js, and its servers get what says where things are.
    for (const argv of [
      ["call", "notes.read_graph"],
      ["exec", "-e", "return await notes.read_graph({})"],
      ["call", "odd.structured"],
    ]) {
      expect([argv, await run(shell, ...argv)]).toEqual([argv, expect.objectContaining({ exitCode: 0 })]);
    }
    // doctor finds what the daemon would: with Node.js it works, and without it, it does not.
    const findings = async (env: Record<string, string>) => {
      const all = JSON.parse((await run(env, "doctor", "--json")).stdout).findings as { id: string; state: string }[];
      return Object.fromEntries(all.map(({ id, state }) => [id, state]));
    };
    expect(await findings(shell)).toMatchObject({ "server.notes": "ok", "server.odd": "ok" });
    expect(await findings(desktop)).toMatchObject({ "server.notes": "problem", "server.odd": "ok" });

    const late = fixture("odd", folder.path, "late");
    const added = await run(shell, "add", "late", "--", late.command, ...late.args);
    expect(added.exitCode).toBe(0);
    const environment = JSON.parse((await run(shell, "call", "late.environment", "--json")).stdout).value;
    expect(environment).toMatchObject(places);
    expect(environment).not.toHaveProperty("SECRET_TOKEN");
    await agent.close();

    // The daemon writes its counts every two seconds.
    for (const deadline = performance.now() + 20_000; ; await Bun.sleep(200)) {
      const { exitCode, stdout } = await run(shell, "stats", "--json");
      expect(exitCode).toBe(0);
      const { calls } = JSON.parse(stdout).total;
      if (calls < 6 && performance.now() < deadline) continue;
      expect(calls).toBeGreaterThanOrEqual(6);
      break;
    }
    expect((await run(shell, "restore")).exitCode).toBe(0);
    expect(readFileSync(at("home", agents), "utf8")).toBe(before);
    await run(shell, "daemon", "stop", "--all");
    expect(await processesLeft(folder.path)).toEqual([]);
  },
);
