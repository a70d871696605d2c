/** Whole processes: `exec` from start to exit, and `serve` until its first answers. */
import { copyFileSync, mkdirSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { platformOf } from "../../src/setup/upgrade/platforms.ts";
import { fixture } from "../../test/support/servers.ts";
import { inTurn, processMs } from "./measure.ts";
import { startCodeMode } from "./peers/code-mode.ts";
import { startDeno } from "./peers/deno.ts";
import { startExecutor } from "./peers/executor.ts";
import { linesOf } from "./peers/lines.ts";
import { startNodeVm } from "./peers/node-vm.ts";
import type { Peer } from "./peers/peer.ts";
import { atMostAbove, rowOf, within } from "./report.ts";
import { absent, type Measure } from "./section.ts";

const initialize = {
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "bench", version: "1" } },
};
const listTools = { method: "tools/list" };
const execute = { method: "tools/call", params: { name: "execute_code", arguments: { code: "return 1" } } };

export const measureStartup: Measure = async ({ binary, rounds, found: { deno, executor, codeMode }, folder }) => {
  const cwd = folder();
  const node = () => processMs(["node", "-e", "0"], cwd);
  const exec = await inTurn(rounds(), {
    ours: () => processMs([binary, "exec", "-e", "return 1"], cwd),
    "node -e 0": node,
  });
  const launcher = installLauncher(folder(), binary);
  const launched = await inTurn(rounds(), {
    ours: () => processMs(["node", launcher, "--version"], cwd),
    "the executable alone": () => processMs([binary, "--version"], cwd),
    "node -e 0": node,
  });
  const serve = await inTurn(rounds(), { ours: () => untilInitialized(binary, cwd), "node -e 0": node });
  const cold = await inTurn(rounds(), {
    ours: () => answeredMs(binary, cwd, [initialize, execute]),
    "node:vm": () => firstOf(() => startNodeVm()),
    ...("missing" in deno ? {} : { deno: () => firstOf(() => startDeno(deno)) }),
    ...("missing" in codeMode ? {} : { "@utcp/code-mode": () => firstOf(() => startCodeMode(codeMode)) }),
    ...("missing" in executor ? {} : { executor: () => firstOf(() => startExecutor(executor, cwd)) }),
  });
  const [withMany, withNone] = [folder(twentyServers()), folder({})];
  const bare = join(folder(), "bare");
  await compileBare(bare);
  const toList = (program: string, cwd: string) => () => answeredMs(program, cwd, [initialize, listTools]);
  const many = await inTurn(rounds(), {
    ours: toList(binary, withMany),
    "no servers": toList(binary, withNone),
    "bare SDK server": toList(bare, withNone),
  });
  const list = rowOf("serve, 20 servers, 5 of them broken: start to tools/list answered", many);
  const launch = rowOf("--version through the launcher of the npm package, start to exit", launched);
  return {
    rows: [
      rowOf("exec -e 'return 1', start to exit", exec),
      atMostAbove(launch, "the executable alone", 40),
      rowOf("serve, start to initialize answered", serve),
      rowOf("serve, start to first 'return 1' answered", cold, absent({ deno, "@utcp/code-mode": codeMode, executor })),
      within(list, "bare SDK server", 1.2),
    ],
    notes: [
      "The bare SDK server has two tools and is compiled to one executable, as claudikins is.",
      "The first 'return 1' is the first execution in a cold process. node:vm, deno and @utcp/code-mode are timed from process start to value; executor is timed as an MCP server.",
    ],
  };
};

/** The time from the start of `serve` until it can be used. */
export function untilInitialized(binary: string, cwd: string): Promise<number> {
  return answeredMs(binary, cwd, [initialize]);
}

/** Puts the launcher and the executable where npm would put them. Returns the path of the launcher. */
function installLauncher(folder: string, binary: string): string {
  const { name, executable } = platformOf(process)!;
  const file = (...path: string[]) => {
    const place = join(folder, "node_modules", ...path);
    mkdirSync(dirname(place), { recursive: true });
    return place;
  };
  symlinkSync(binary, file("@claudikins", name, "bin", executable));
  const launcher = file("claudikins", "bin", "claudikins.cjs");
  copyFileSync(join(import.meta.dir, "..", "release", "launcher", "claudikins.cjs"), launcher);
  return launcher;
}

/** Compiled with the options of our own build. */
async function compileBare(outfile: string): Promise<void> {
  await Bun.build({
    entrypoints: [join(import.meta.dir, "peers", "bare-server.ts")],
    compile: { outfile },
    minify: true,
    bytecode: true,
    format: "esm",
  });
}

/** Five of them are broken: a missing command, a program that ends, one that is silent, a missing variable, and a missing server. */
function twentyServers(): Record<string, object> {
  const well = Array.from({ length: 15 }, (_, index) => [`well${index}`, fixture("echo", "well")]);
  return {
    ...Object.fromEntries(well),
    missing: { command: "no-such-mcp-server", args: [] },
    exits: fixture("crash-on-start"),
    silent: fixture("never-starts"),
    needy: { ...fixture("echo", "well"), env: { TOKEN: "${NO_SUCH_TOKEN}" } },
    closed: { url: "http://127.0.0.1:9/mcp" },
  };
}

/** The time from the start of `serve` until the last of these sequential requests is answered. */
async function answeredMs(binary: string, cwd: string, requests: object[]): Promise<number> {
  const startedAt = performance.now();
  const child = Bun.spawn([binary, "serve"], {
    cwd,
    env: process.env,
    stdin: "pipe",
    stdout: "pipe",
    stderr: "ignore",
  });
  const lines = linesOf(child.stdout);
  for (const [id, request] of requests.entries()) {
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...request })}\n`);
    void child.stdin.flush();
    const { value } = await lines.next();
    const { result } = JSON.parse(value ?? "{}");
    if (result === undefined || result.isError) throw new Error(`serve did not answer ${JSON.stringify(request)}`);
  }
  const ms = performance.now() - startedAt;
  await child.stdin.end();
  await child.exited;
  return ms;
}

async function firstOf(start: () => Peer | Promise<Peer>): Promise<number> {
  const startedAt = performance.now();
  await using peer = await start();
  if ((await peer.execute("return 1")) !== 1) throw new Error("return 1 did not give 1");
  return performance.now() - startedAt;
}
