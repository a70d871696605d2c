/** The life of a server in a sandbox: its start, its last words, its end, and what happens if there can be no sandbox. */
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { createHash } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { silentLog } from "../../../src/base/log.ts";
import type { Box } from "../../../src/config/box.ts";
import { openDirectChannel } from "../../../src/servers/connection/open-channel.ts";
import { root } from "../../support/claudikins.ts";
import { eventually } from "../../support/eventually.ts";
import { failureOf, failureText, openPool, plainValue, serverConfig, surroundings } from "../../support/pool.ts";
import { processesLeft, processesWith } from "../../support/process.ts";
import { withoutSandbox } from "../../support/sandbox.ts";
import { diskFolder, type TemporaryFolder, temporaryFolder } from "../../support/temporary.ts";

// Processes start slowly on a small machine.
setDefaultTimeout(60_000);

let folder: TemporaryFolder;
beforeEach(() => {
  folder = temporaryFolder(diskFolder);
  for (const name of ["home", "data"]) mkdirSync(join(folder.path, name));
});
afterEach(async () => {
  expect(await processesLeft(folder.path)).toEqual([]);
  folder[Symbol.dispose]();
});

const at = (...names: string[]) => join(folder.path, ...names);

const box = (more: Partial<Box> = {}): Box => ({ read: [], write: [at("data")], network: false, ...more });

/** A shell script in a sandbox. The path of the folder marks its process. */
const shell = (script: string, more: Partial<Box> = {}) => ({
  command: "sh",
  args: ["-c", script, folder.path],
  cwd: at("data"),
  box: box(more),
});

const scene = (path = process.env["PATH"] ?? "") => ({
  ...surroundings(folder.path),
  env: { PATH: path, HOME: at("home") },
});

/** The error of a server that does not start. */
async function failure(entry: Parameters<typeof serverConfig>[1], path?: string): Promise<string> {
  await using pool = openPool({ boxed: entry }, scene(path));
  return failureText(await failureOf(pool.listTools("boxed", {})), folder.path);
}

/** Writes a program into a folder for the PATH. */
function program(name: string, script: string): string {
  chmodSync(folder.write(`bin/${name}`, `#!/bin/sh\n${script}\n`), 0o755);
  return at("bin");
}

describe.skipIf(withoutSandbox !== undefined)("a server in a sandbox", () => {
  test("keeps its own exit code and last words", async () => {
    expect(await failure(shell("echo first >&2; echo last >&2; exit 3"))).toStartWith(
      'SERVER_UNAVAILABLE: Server "boxed" did not start: its process exited with code 3\n  | first\n  | last\nhint: ',
    );
    expect(await failure(shell("kill -9 $$"))).toContain("its process was ended by SIGKILL");
    const hosts = { network: ["example.com"] };
    expect(await failure(shell("echo last >&2; exit 7", hosts))).toContain("exited with code 7\n  | last");
    expect(await failure(shell("kill -9 $$", hosts))).toContain("its process was ended by SIGKILL");
  });

  test("is reported like any other if its program is missing", async () => {
    expect(await failure({ command: "no-such-server", box: box() })).toContain("command not found: no-such-server");
  });

  test.each<Partial<Box>>([{ network: false }, { network: ["example.com"] }])(
    "gets SIGTERM, and ends itself (%j)",
    async (network) => {
      const script = "trap 'echo ended > ended; exit 0' TERM; echo > begun; while :; do sleep 0.05; done";
      const channel = await openDirectChannel(serverConfig("boxed", shell(script, network)), {
        ...{ ...scene(), cwd: folder.path },
        log: silentLog,
      });
      await channel.transport.start();
      await eventually(() => existsSync(at("data", "begun")));
      await channel.transport.close();
      expect(readFileSync(at("data", "ended"), "utf8")).toBe("ended\n");
      expect(channel.ended()).toBe("its process exited with code 0");
    },
  );

  test("ends with claudikins, also if that is killed", async () => {
    folder.write("claudikins.json", {
      mcpServers: { boxed: { ...shell("setsid sleep 60 & sleep 60"), cwd: undefined, box: undefined, sandbox: box() } },
    });
    const claudikins = Bun.spawn([process.execPath, join(root, "src", "main.ts"), "list", "--check"], {
      cwd: folder.path,
      env: { ...scene().env, CI: "true", CLAUDIKINS_DAEMON: "off" },
      stdio: ["ignore", "ignore", "ignore"],
    });
    await eventually(
      () => processesWith(`-- /bin/sh -c setsid`).length + processesWith("-- /usr/bin/sh -c setsid").length > 0,
    );
    claudikins.kill("SIGKILL");
    await claudikins.exited;
    expect(await processesLeft(folder.path, 5_000)).toEqual([]);
  });

  test("does not start if it is closed before", async () => {
    const path = program("bwrap", 'sleep 0.5; exec /usr/bin/bwrap "$@"');
    const script = "echo > begun; sleep 60";
    const channel = await openDirectChannel(serverConfig("boxed", shell(script)), {
      ...{ ...scene(`${path}:${process.env["PATH"]}`), cwd: folder.path },
      log: silentLog,
    });
    const start = channel.transport.start().catch((error: Error) => error.message);
    await channel.transport.close();
    expect(await start).toBe("closed before the start");
    expect(existsSync(at("data", "begun"))).toBe(false);
  });
});

describe.skipIf(withoutSandbox !== undefined)("a package of npx", () => {
  const packageFolder = (spec: string) =>
    join("home/.npm/_npx", createHash("sha512").update(spec).digest("hex").slice(0, 16), "node_modules", "probe");

  const server = `
    const lines = require("node:readline").createInterface({ input: process.stdin });
    const results = {
      initialize: { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "probe", version: "1" } },
      "tools/list": { tools: [{ name: "words", inputSchema: { type: "object" } }] },
      "tools/call": { content: [{ type: "text", text: process.argv.slice(2).join(" ") }] },
    };
    lines.on("line", (line) => {
      const { id, method } = JSON.parse(line);
      if (id !== undefined) console.log(JSON.stringify({ jsonrpc: "2.0", id, result: results[method] ?? {} }));
    });`;

  function install(spec: string, bin = "./server.cjs"): void {
    folder.write(join(packageFolder(spec), "package.json"), { name: "probe", bin });
    folder.write(join(packageFolder(spec), "server.cjs"), `#!/usr/bin/env node\n${server}`);
    chmodSync(at(packageFolder(spec), "server.cjs"), 0o755);
  }

  test("is started without npx if it is installed", async () => {
    install("probe@1.2.3");
    const entry = { command: "npx", args: ["-y", "probe@1.2.3", "one", folder.path], box: box() };
    await using pool = openPool({ probe: entry }, scene());
    expect(plainValue(await pool.callTool("probe", "words", {}, {}))).toBe(`one ${folder.path}`);
  });

  test("cannot name a program outside of itself", async () => {
    install("probe", "../../../../../secret/program");
    folder.write("home/secret/program", "#!/bin/sh\n");
    expect(await failure({ command: "npx", args: ["probe"], box: box() })).toContain("probe has no program");
  });

  test("is installed outside of the sandbox, without its scripts", async () => {
    const path = program("npx", `echo "$@" > ${at("asked")}; echo "no such package" >&2; exit 1`);
    const said = await failure({ command: "npx", args: ["-y", "probe"], box: box() }, `${path}:${process.env["PATH"]}`);
    expect(said).toContain("did not start: probe could not be installed:\n  no such package\nhint: Check the network");
    expect(readFileSync(at("asked"), "utf8").replaceAll(folder.path, "FOLDER")).toBe(
      "--yes --ignore-scripts --cache=FOLDER/home/.npm --package=probe -c :\n",
    );
  });

  test.each([
    ["uvx", ["mcp-server-git"], "uv tool install"],
    ["pnpm", ["dlx", "probe"], "pnpm add --global"],
    ["npx", ["--node-options=x", "probe"], "npm install --global"],
    ["docker", ["run", "probe"], "The container is its sandbox"],
  ])("is not started by %s %j, with what to do instead", async (command, args, hint) => {
    const said = await failure({ command, args, box: box() });
    expect(said).toStartWith("SANDBOX_UNAVAILABLE: ");
    expect(said).toContain(hint);
  });
});

describe("without bubblewrap, a server with a sandbox does not start", () => {
  test.each([
    ["is missing", undefined, "bubblewrap is not installed\nhint: Install it: apt install bubblewrap"],
    ["is too old", "echo bubblewrap 0.6.1", "bubblewrap 0.6.1 is too old\nhint: Install bubblewrap 0.8 or later."],
    [
      "may not confine",
      '[ "$1" = --version ] && echo bubblewrap 0.9.0 || { echo "bwrap: No permissions to create new namespace" >&2; exit 1; }',
      "the system does not let bubblewrap confine programs: bwrap: No permissions to create new namespace\nhint: Allow user namespaces",
    ],
  ])("if it %s", async (_, script, expected) => {
    if (process.platform !== "linux") return;
    const path = script === undefined ? at("bin") : program("bwrap", script);
    const said = await failure({ ...shell("echo > begun"), command: "/bin/sh" }, path);
    expect(said).toStartWith(
      `SANDBOX_UNAVAILABLE: Server "boxed" did not start: its sandbox cannot be made: ${expected}`,
    );
    expect(existsSync(at("data", "begun"))).toBe(false);
  });
});
