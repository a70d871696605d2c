/** Records the session at the beginning of the README: `bun run session [--binary dist/claudikins] [--output file.svg]`. */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { homedir, hostname, tmpdir, userInfo } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { recordSession } from "./session.ts";
import { svgOf } from "./svg.ts";
import { wordsFor } from "./words.ts";

const root = join(import.meta.dir, "..", "..");

/** The exit code that shells use for a program ended by Ctrl-C. */
const interruptedExitCode = 130;

const interrupted = new AbortController();
for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(name, () => interrupted.abort());

try {
  await main(interrupted.signal);
} catch (error) {
  console.error(interrupted.signal.aborted ? "Interrupted: nothing was written" : `error: ${messageOf(error)}`);
  process.exitCode = interrupted.signal.aborted ? interruptedExitCode : 1;
}

async function main(signal: AbortSignal): Promise<void> {
  const { values } = parseArgs({
    options: {
      binary: { type: "string" },
      output: { type: "string", default: join(import.meta.dir, "session.svg") },
    },
  });
  const output = resolve(values.output);
  const build = mkdtempSync(join(tmpdir(), "claudikins-session-build-"));
  try {
    const binary =
      values.binary === undefined ? await built(join(build, "claudikins"), signal) : resolve(values.binary);
    if (!existsSync(binary)) throw new Error(`there is no ${values.binary}`);
    const recording = await recordSession(binary, signal);
    const svg = svgOf(recording, wordsFor(recording));
    refuseFacts(svg);
    writeFileSync(output, svg);
    const size = Math.ceil(Buffer.byteLength(svg) / 1_000);
    console.log(`Written: ${values.output} (${size} kB, ${Math.round(recording.durationMs / 1_000)} s)`);
  } finally {
    rmSync(build, { recursive: true, force: true });
  }
}

async function built(outfile: string, signal: AbortSignal): Promise<string> {
  const command = [process.execPath, join(root, "scripts", "build.ts"), "--outfile", outfile];
  const child = Bun.spawn(command, { signal, stdin: "ignore", stdout: "ignore", stderr: "pipe" });
  const [errors, exitCode] = await Promise.all([child.stderr.text(), child.exited]);
  signal.throwIfAborted();
  if (exitCode !== 0) throw new Error(`the build failed:\n${errors}`);
  return outfile;
}

/** The recording is public: it must contain nothing about the person or machine that recorded it. */
function refuseFacts(svg: string): void {
  const paths = {
    "the folder of this repository": resolve(root),
    "a home folder": homedir(),
    "a temporary folder": tmpdir(),
  };
  const [machine, user] = [hostname(), userInfo().username].map((name) => RegExp.escape(name || "nobody"));
  const names = {
    "the name of this machine": new RegExp(`(?<![\\w-])${machine}(?![\\w-])`, "i"),
    // On its own it may be an ordinary word.
    "a user's name": new RegExp(`[/\\\\~]${user}(?!\\w)|(?<!\\w)${user}@`),
  };
  const found = [
    ...Object.entries(paths).filter(([, path]) => path.length > 1 && svg.includes(path)),
    ...Object.entries(names).filter(([, name]) => name.test(svg)),
  ].map(([what]) => what);
  if (found.length > 0) throw new Error(`the session shows ${found.join(" and ")}`);
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}
