/** Runs a program as `exec` and `execute_code` do, with new server processes and a new workspace. */
import { createHash } from "node:crypto";
import { cpSync, existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { App } from "../../src/app/app.ts";
import { silentLog } from "../../src/base/log.ts";
import { loadConfig } from "../../src/config/load.ts";
import { execute } from "../../src/programs/execute.ts";
import type { LogEntry, Outcome, Receipt } from "../../src/sandbox/contract.ts";
import { Sandbox } from "../../src/sandbox/sandbox.ts";
import { outcomeContent } from "../../src/serve/content/bounded-content.ts";
import { builtInDemo, everything, filesystem, memory } from "../support/servers.ts";
import { project } from "../tools/generation/project.ts";
import type { Program, Shown } from "./program.ts";

/**
 * One sandbox for all programs of a test file, like that of a server: its workers are reused, and must behave like new
 * ones. Each file has its own, because a sandbox that has ended runs nothing.
 */
export class SharedSandbox extends Sandbox {
  constructor() {
    super({ keptWorkers: 3 });
  }

  /** The end of an app must not end the shared sandbox. */
  override [Symbol.dispose](): void {}

  end(): void {
    super[Symbol.dispose]();
  }
}

export type Run = (code: string, app: App) => Promise<Outcome>;

const executed: Run = (source, app) => execute({ source }, app);

/** The outcome of each step, as written in the files. A failed step ends the program. */
export async function runProgram({ steps }: Program, sandbox: Sandbox, run: Run = executed): Promise<Shown[]> {
  using folder = project();
  const data = join(folder.path, "data");
  cpSync(join(import.meta.dir, "data"), data, { recursive: true });
  const entries = {
    demo: builtInDemo(),
    files: filesystem(data),
    memory: memory(join(folder.path, "memory.jsonl")),
    everything: everything(),
  };
  const code = steps.map((step) => step.code).join("\n");
  // Other servers would only appear in lists of all servers.
  const used = Object.entries(entries).filter(([name]) => new RegExp(`\\b${name}\\b`).test(code));
  folder.configure(used.length === 0 ? { demo: entries.demo } : Object.fromEntries(used));
  const env = { PATH: process.env["PATH"], HOME: folder.path, CI: "true" };
  const config = await loadConfig({ cwd: folder.path, env });
  await using app = new App(config, sandbox, { env, cwd: folder.path, log: silentLog });
  const shown: Shown[] = [];
  let files: Shown = {};
  for (const step of steps) {
    // Programs use /data, which tests cannot create, so the folder is elsewhere and appears as /data in outcomes.
    const outcome = await run(step.code.replace(/(?<=["'`])\/data\b/g, data), app);
    const before = files;
    files = filesOf(app.config.folders.workspace);
    const text = { ...show(outcome), ...changed(before, files) };
    shown.push(Object.fromEntries(Object.entries(text).map(([kind, body]) => [kind, body.replaceAll(data, "/data")])));
    if (!outcome.ok) break;
  }
  return shown;
}

function changed(before: Shown, after: Shown): Shown {
  const gone = Object.keys(before).filter((file) => !(file in after));
  const written = Object.entries(after).filter(([file, text]) => before[file] !== text);
  return Object.fromEntries([...gone.map((file) => [file, "(gone)"]), ...written]);
}

function show(outcome: Outcome): Shown {
  const shown: Shown = {};
  if (!outcome.ok) {
    const { name, message, code, hint, line } = outcome.error;
    shown["json failure"] = json({ reason: outcome.reason, name, message, code, hint, line });
  } else if (typeof outcome.value === "string") shown["text value"] = outcome.value;
  else if (outcome.value !== undefined) shown["json value"] = json(outcome.value);
  if (outcome.logs.length > 0) shown["text logs"] = outcome.logs.map(logLine).join("\n");
  const [, ...displayed] = outcomeContent(outcome, { maxChars: Number.POSITIVE_INFINITY, workspace: "" }).content;
  if (displayed.length > 0) shown["json display"] = json(displayed.map(withoutData));
  if (outcome.receipt.calls > 0) shown["json calls"] = json(calls(outcome.receipt));
  return shown;
}

const logLine = ({ level, text }: LogEntry) => (level === "log" ? text : `[${level}] ${text}`);

function calls({ tools }: Receipt): Record<string, number | string> {
  return Object.fromEntries(
    Object.entries(tools).map(([id, use]) => [id, use.failures ? `${use.calls}, ${use.failures} failed` : use.calls]),
  );
}

/** The size of an image instead of its bytes, which depend on the encoder. */
function withoutData(block: unknown): unknown {
  const { data, ...rest } = block as { data?: string };
  if (data === undefined) return block;
  const bytes = Buffer.from(data, "base64");
  const isPng = bytes.toString("latin1", 1, 4) === "PNG";
  return {
    ...rest,
    data: isPng ? `PNG, ${bytes.readUInt32BE(16)}×${bytes.readUInt32BE(20)}` : `${bytes.length} bytes`,
  };
}

const readableCharacters = 2_500;

/** Every file of the workspace: short texts in full, and others as their size and the beginning of a hash. */
function filesOf(workspace: string): Shown {
  if (!existsSync(workspace)) return {};
  const paths = (readdirSync(workspace, { recursive: true }) as string[])
    .filter((path) => statSync(join(workspace, path)).isFile())
    .sort();
  const shown: Shown = {};
  for (const path of paths) {
    const bytes = readFileSync(join(workspace, path));
    const text = bytes.toString();
    const readable = bytes.length <= readableCharacters && Buffer.from(text).equals(bytes);
    const hash = createHash("sha256").update(bytes).digest("hex").slice(0, 12);
    shown[`text file ${path}`] = readable ? text : `${bytes.length} bytes, sha256 ${hash}…`;
  }
  return shown;
}

/** Indented, with short values on one line. */
function json(value: unknown): string {
  return (function write(part: unknown, indent: string): string {
    const line = JSON.stringify(part, null, 1)?.replace(/\n\s*/g, " ") ?? "null";
    if (typeof part !== "object" || part === null || indent.length + line.length <= 110) return line;
    const deeper = `${indent}  `;
    const items = Array.isArray(part)
      ? part.map((each) => write(each, deeper))
      : Object.entries(part).flatMap(([key, each]) =>
          each === undefined ? [] : [`${JSON.stringify(key)}: ${write(each, deeper)}`],
        );
    const [open, close] = Array.isArray(part) ? "[]" : "{}";
    return `${open}\n${items.map((item) => deeper + item).join(",\n")}\n${indent}${close}`;
  })(value, "");
}
