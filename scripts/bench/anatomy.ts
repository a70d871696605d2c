/**
 * One call of a program, layer by layer: each layer is measured with everything below it replaced by something that answers at once, so that
 * differences are the cost of the layers. Measured from source, in this process.
 */
import { join } from "node:path";
import { App } from "../../src/app/app.ts";
import { silentLog } from "../../src/base/log.ts";
import { defaultLimits } from "../../src/config/defaults.ts";
import { loadConfig } from "../../src/config/load.ts";
import { execute, limitsFrom } from "../../src/programs/execute.ts";
import type { Outcome } from "../../src/sandbox/contract.ts";
import { Sandbox } from "../../src/sandbox/sandbox.ts";
import type { Channel, ChannelOpener } from "../../src/servers/connection/channel.ts";
import { fixture } from "../../test/support/servers.ts";
import { startRawClient } from "./host.ts";
import { inTurn, median, type Times, warmUp } from "./measure.ts";
import { milliseconds, stopwatch } from "./programs.ts";
import type { Row } from "./report.ts";
import type { Measure } from "./section.ts";

const calls = 200;
const args = { text: "x" };
const answer = { content: [{ type: "text", text: "x" }] };
const tool = { name: "echo", inputSchema: { type: "object", properties: { text: { type: "string" } } } };

const inProgram = stopwatch(`for (let i = 0; i < ${calls}; i++) await echoes.echo(${JSON.stringify(args)});`);

const warmUpMs = 1_000;

export const measureAnatomy: Measure = async (bench) => {
  const entry = fixture("echo", "well");
  using sandbox = new Sandbox();
  await using inMemory = await openApp(bench.folder({ echoes: entry }), answersAtOnce);
  await using real = await openApp(bench.folder({ echoes: entry }));
  await using raw = await startRawClient(entry);
  await using lines = new Lines(entry);
  const program = async (app: App) => micros(await execute({ source: inProgram, limits: { calls: calls + 1 } }, app));
  const layers = {
    ours: () => program(real),
    "program, server in memory": () => program(inMemory),
    "program, no call": () => bare(sandbox, bench.folder()),
    "pool, server in memory": () => each(() => inMemory.pool.callTool("echoes", "echo", args)),
    pool: () => each(() => real.pool.callTool("echoes", "echo", args)),
    "raw client": () => each(() => raw.call("echo", args)),
    "bare pipe": () => each(() => lines.call("echo", args)),
  };
  await warmUp(layers, warmUpMs);
  const times = await inTurn(bench.rounds(), layers, () => 1);
  return {
    rows: rowsOf(times),
    notes: [
      `Each figure is the mean of ${calls} calls, one after the other, in a warm process that runs from source. The server echoes a text.`,
      "A layer is measured as a difference: with and without it, in the same round. The server and the pipe are measured with a client that writes and reads lines and does nothing else.",
    ],
  };
};

function rowsOf(times: Times): Row[] {
  const of = (pick: (round: (name: string) => number) => number, what: string): Row => {
    const values = times.ours.map((_, at) => pick((name) => times[name]![at]!));
    return { what, unit: "µs", ours: median(values), others: {}, counted: `${values.length} rounds` };
  };
  return [
    of((t) => t("ours"), "a call of a program, everything"),
    of((t) => t("program, no call"), "program: guest, worker, main thread and back"),
    of(
      (t) => t("program, server in memory") - t("program, no call") - t("pool, server in memory"),
      "program: arguments, schema, record, counts and value",
    ),
    of((t) => t("pool, server in memory"), "pool: policy, limits, client, answer"),
    of((t) => t("pool") - t("pool, server in memory") - t("bare pipe"), "pipe: encode, write, read, decode"),
    of((t) => t("bare pipe"), "server and pipe alone"),
    of((t) => t("raw client"), "the SDK's client, for comparison"),
  ];
}

/** The app of a config whose server is listed. */
async function openApp(cwd: string, openChannel?: ChannelOpener): Promise<App> {
  const env = { HOME: cwd, PATH: process.env["PATH"] ?? "", CI: "true" };
  const config = await loadConfig({ cwd, env });
  const app = new App(config, new Sandbox(), { env, cwd, log: silentLog, ...(openChannel ? { openChannel } : {}) });
  await app.catalog.tools("echoes");
  return app;
}

/** Opens a channel to a server in this process, which has no work to do. */
const answersAtOnce: ChannelOpener = async () => {
  const results: Record<string, Record<string, unknown>> = {
    initialize: {
      protocolVersion: "2025-06-18",
      capabilities: { tools: {} },
      serverInfo: { name: "memory", version: "1" },
    },
    "tools/list": { tools: [tool] },
    "tools/call": answer,
  };
  const transport: Channel["transport"] = {
    start: async () => {},
    close: async () => transport.onclose?.(),
    async send(message) {
      if (!("method" in message) || !("id" in message)) return;
      const { id, method } = message;
      const result = results[method];
      if (!result) throw new Error(`${method} has no answer`);
      queueMicrotask(() => transport.onmessage?.({ jsonrpc: "2.0", id, result }));
    },
  };
  return { transport, pid: () => undefined, ended: () => "", lastWords: () => [], failure: () => undefined };
};

/** Runs the program with a function that answers at once. */
async function bare(sandbox: Sandbox, folder: string): Promise<number> {
  const outcome = await sandbox.run(inProgram, {
    bindings: {
      namespaces: [{ name: "echoes", jsName: "echoes", functions: [{ ...tool, jsName: "echo" }] }],
      call: async () => ({ text: "x" }),
    },
    limits: limitsFrom(defaultLimits),
    mounts: { workspace: join(folder, "workspace"), registry: join(folder, "registry") },
    check: "error",
  });
  return micros(outcome);
}

function micros(outcome: Outcome): number {
  if (!outcome.ok) throw new Error(outcome.error.message);
  return (milliseconds(outcome.value) * 1_000) / calls;
}

/** The mean time of a call in microseconds. */
async function each(call: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  for (let made = 0; made < calls; made++) await call();
  return ((performance.now() - startedAt) * 1_000) / calls;
}

/** A client that writes a line and waits for one. */
class Lines implements AsyncDisposable {
  readonly #child: Bun.Subprocess<"pipe", "pipe", "ignore">;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #ready: Promise<unknown>;
  #id = 0;

  constructor({ command, args }: { command: string; args: string[] }) {
    this.#child = Bun.spawn([command, ...args], { stdin: "pipe", stdout: "pipe", stderr: "ignore" });
    this.#reader = this.#child.stdout.getReader() as ReadableStreamDefaultReader<Uint8Array>;
    const clientInfo = { name: "bench", version: "1" };
    this.#ready = this.#ask("initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo });
  }

  async call(name: string, given: object): Promise<void> {
    await this.#ready;
    await this.#ask("tools/call", { name, arguments: given });
  }

  async #ask(method: string, params: object): Promise<void> {
    this.#id += 1;
    this.#child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: this.#id, method, params })}\n`);
    this.#child.stdin.flush();
    for (;;) {
      const { value, done } = await this.#reader.read();
      if (done) throw new Error("the server has ended");
      if (value.at(-1) === 0x0a) return;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill();
    await this.#child.exited;
  }
}
