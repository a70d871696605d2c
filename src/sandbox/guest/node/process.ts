/** `process`, with harmless values. It reveals nothing about the process around the sandbox. */
import { host } from "../host.ts";

/** Characters of an incomplete line that are kept back. A longer one is sent at once. */
const maxBegun = 8_192;

/** Makes a stream that sends complete lines. When the program awaits, an incomplete line is sent as the beginning of a line. */
function streamOf(level: string) {
  let line = "";
  let isAwaited = false;
  const flush = () => {
    isAwaited = false;
    if (line !== "") host.log(level, line, 1);
    line = "";
  };
  return {
    write(chunk: unknown): boolean {
      const text = typeof chunk === "string" ? chunk : new TextDecoder().decode(chunk as Uint8Array);
      const lines = text.split("\n");
      lines[0] = line + lines[0];
      line = lines.pop() ?? "";
      for (const complete of lines) host.log(level, complete);
      if (line.length > maxBegun) flush();
      else if (line !== "" && !isAwaited) {
        isAwaited = true;
        queueMicrotask(flush);
      }
      return true;
    },
    end: flush,
    isTTY: false,
    columns: 100,
    on: () => undefined,
    once: () => undefined,
  };
}

const stdout = streamOf("log");
const stderr = streamOf("error");

const megabyte = 1_048_576;
const nanoseconds = () => BigInt(Math.round(host.now() * 1e6));

const hrtime = (since: [number, number] = [0, 0]): [number, number] => {
  const past = nanoseconds() - (BigInt(since[0]) * 1_000_000_000n + BigInt(since[1]));
  return [Number(past / 1_000_000_000n), Number(past % 1_000_000_000n)];
};
hrtime.bigint = nanoseconds;

const version = "22.0.0";

export const process: Record<string, unknown> = {
  stdout,
  stderr,
  env: {},
  argv: ["node", "main.ts"],
  execArgv: [],
  platform: "linux",
  arch: "x64",
  pid: 1,
  ppid: 0,
  title: "node",
  version: `v${version}`,
  versions: { node: version },
  release: { name: "node" },
  exitCode: undefined,
  cwd: () => "/",
  chdir: () => {
    throw new Error("process.chdir: the working directory is fixed. Use full paths: ./workspace/…");
  },
  nextTick: (callback: (...args: unknown[]) => void, ...args: unknown[]) => queueMicrotask(() => callback(...args)),
  hrtime,
  uptime: () => host.now() / 1_000,
  memoryUsage: () => ({
    rss: 64 * megabyte,
    heapTotal: 64 * megabyte,
    heapUsed: 16 * megabyte,
    external: 0,
    arrayBuffers: 0,
  }),
  cpuUsage: () => ({ user: Math.round(host.now() * 1_000), system: 0 }),
  emitWarning: (warning: unknown) => host.log("warn", String(warning)),
  exit: (code: unknown = process["exitCode"] ?? 0) => {
    // Exit code 0 ends the execution successfully. As in Node, calls that were not awaited are lost.
    for (const stream of [stdout, stderr]) stream.end();
    if (Number(code) === 0) host.done(undefined);
    throw new Error(
      `process.exit with ${String(code)}: the sandbox has no process to exit. Use return to end the program.`,
    );
  },
};
for (const name of ["on", "once", "off", "addListener", "removeListener", "removeAllListeners"])
  process[name] = () => process;
process["listeners"] = () => [];
process["emit"] = () => false;
Object.defineProperty(process, Symbol.toStringTag, { value: "process", configurable: true });
