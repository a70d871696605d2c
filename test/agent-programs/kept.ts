/** Programs that were kept from a run with real servers, and the same servers after they have changed. */
import { cpSync } from "node:fs";
import { join } from "node:path";
import { App } from "../../src/app/app.ts";
import type { JsonObject } from "../../src/base/json-object.ts";
import { silentLog } from "../../src/base/log.ts";
import { loadConfig } from "../../src/config/load.ts";
import { CurrentTools } from "../../src/programs/drift/current.ts";
import { judged } from "../../src/programs/drift/judge.ts";
import { seenNow } from "../../src/programs/drift/live.ts";
import { execute } from "../../src/programs/execute.ts";
import type { Recording } from "../../src/programs/recordings/format.ts";
import { RecordingFiles, recordingFile } from "../../src/programs/recordings/recording-files.ts";
import { testRecording } from "../../src/programs/recordings/test-program.ts";
import { codeWithInput } from "../../src/programs/saved/inputs.ts";
import { ProgramLibrary } from "../../src/programs/saved/library.ts";
import type { SavedProgram } from "../../src/programs/saved/model.ts";
import { withoutFences } from "../../src/sandbox/code/transpile.ts";
import { Sandbox } from "../../src/sandbox/sandbox.ts";
import { cli } from "../cli/in-memory.ts";
import { type DriftedTools, driftedResult } from "../fixtures/drifted.ts";
import { builtInDemo, type Entry, everything, filesystem, fixture, memory } from "../support/servers.ts";
import { type Project, project } from "../tools/generation/project.ts";
import { readPrograms } from "./program.ts";

export interface Kept {
  program: SavedProgram;
  recording: Recording;
}

const { signal } = new AbortController();

/** A folder with these programs. The servers have the label of no data, so that their values stay as they are. */
export class KeptPrograms implements AsyncDisposable {
  readonly all: ReadonlyMap<string, Kept>;
  readonly #folder: Project;
  readonly #app: App;

  private constructor(folder: Project, app: App, all: ReadonlyMap<string, Kept>) {
    [this.#folder, this.#app, this.all] = [folder, app, all];
  }

  static async from(names: readonly string[]): Promise<KeptPrograms> {
    const folder = project();
    const data = join(folder.path, "data");
    cpSync(join(import.meta.dir, "data"), data, { recursive: true });
    const drifting = (name: string, { command, args, ...entry }: Entry) => {
      const started = fixture("drifted", join(folder.path, `${name}.json`), command, ...args);
      return { ...entry, ...started, labels: { "*": [] }, definitions: "trust" };
    };
    const mcpServers = {
      demo: drifting("demo", builtInDemo()),
      files: drifting("files", filesystem(data)),
      memory: drifting("memory", memory(join(folder.path, "memory.jsonl"))),
      everything: drifting("everything", everything()),
    };
    folder.write("claudikins.json", { mcpServers, policy: { flow: "off" } });
    const programs = new Map(readPrograms().map((program) => [program.name, program]));
    for (const name of names) {
      const code = withoutFences(programs.get(name)!.steps[0]!.code).replace(/(?<=["'`])\/data\b/g, data);
      folder.write("program.ts", code);
      await done(folder, "exec", "program.ts", "--record");
      const json = await done(folder, "programs", "keep", "last", "--name", savedName(name), "--yes", "--json");
      const { recording, inputs } = JSON.parse(json) as {
        recording?: object;
        inputs: { name: string; value: unknown }[];
      };
      const given = inputs.map(({ name, value }) => `${name}:=${JSON.stringify(value)}`);
      // A record has only the beginnings of long results.
      if (!recording) await done(folder, "programs", "record", savedName(name), ...given);
    }
    const env = { PATH: process.env["PATH"], HOME: folder.path, CI: "true" };
    const config = await loadConfig({ cwd: folder.path, env });
    const app = new App(config, new Sandbox({ keptWorkers: 2 }), { env, cwd: folder.path, log: silentLog });
    const { savedPrograms: place } = app.config;
    const [library, files] = [new ProgramLibrary(place), new RecordingFiles(place)];
    const all = new Map<string, Kept>();
    for (const name of names) {
      const saved = savedName(name);
      all.set(name, { program: library.get(saved), recording: await files.read(recordingFile(saved, undefined)) });
    }
    return new KeptPrograms(folder, app, all);
  }

  get path(): string {
    return this.#folder.path;
  }

  async command(...argv: string[]): Promise<string> {
    return done(this.#folder, ...argv);
  }

  /** What the program gives with the server as it is after the change: its value or its logs, or its failure. */
  async really({ program, recording }: Kept, server: string, change: DriftedTools): Promise<unknown> {
    return this.#changed(server, change, async () => {
      const outcome = await execute({ source: codeWithInput(program.code, recording.input ?? {}) }, this.#app);
      if (!outcome.ok) return { failure: outcome.error.message };
      return outcome.value === undefined
        ? { logs: outcome.logs.map(({ text }) => withoutTimes(text)) }
        : { value: outcome.value };
    });
  }

  /** Why it would break with that server, as `programs check --live` finds it. */
  async reasons({ program, recording }: Kept, server: string, change: DriftedTools) {
    const isGone = Object.values(change).some(({ kind }) => kind === "gone");
    const reasons = await this.#changed(server, change, async () => {
      const { config, catalog, env, cwd } = this.#app;
      if (isGone) await catalog.list(server);
      const seen = await seenNow([recording], this.#app, signal);
      const tools = await CurrentTools.of({ config, catalog, env, cwd });
      const job = {
        program: JSON.stringify(program),
        servers: JSON.stringify(tools.serversOf(program)),
        seen: JSON.stringify(seen.shapes),
        recording: { file: "a.recording.json", text: JSON.stringify(recording) },
        ...{ mayNotFit: false, isFitKnown: false },
      };
      return (await judged(job, this.#app.sandbox)).reasons;
    });
    if (isGone) await this.#app.catalog.list(server);
    return reasons;
  }

  /** The differences of a replay in which the tool answers as that server does, from a place among the calls on. */
  async differences({ program, recording }: Kept, tool: string, change: DriftedTools, from = 0) {
    const calls = recording.calls.map(({ result, ...call }, place) => {
      if (place < from || call.tool !== tool || result === undefined)
        return { ...call, ...(result === undefined ? {} : { result }) };
      const { content, structuredContent, isError } = driftedResult(
        tool,
        answered(result),
        change,
      ) as unknown as Answered;
      const [{ text }] = content;
      if (isError) return { ...call, error: { code: "TOOL_FAILED", message: text } };
      return { ...call, result: structuredContent ?? text };
    });
    const changed = { ...recording, calls } as Recording;
    const { sandbox } = this.#app;
    const tested = await testRecording(program, "a.recording.json", async () => changed, { sandbox, signal });
    if (tested.problem !== undefined) throw new Error(tested.problem);
    return tested.differences;
  }

  async #changed<Result>(server: string, change: DriftedTools, look: () => Promise<Result>): Promise<Result> {
    this.#folder.write(`${server}.json`, change);
    try {
      return await look();
    } finally {
      this.#folder.write(`${server}.json`, {});
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#app[Symbol.asyncDispose]();
    this.#folder[Symbol.dispose]();
  }
}

interface Answered {
  content: [{ text: string }];
  structuredContent?: unknown;
  isError?: true;
}

/** A recorded result as its server sends it. */
const answered = (result: unknown) =>
  typeof result === "string"
    ? { content: [{ type: "text", text: result }] }
    : { content: [{ type: "text", text: "" }], structuredContent: result };

export const savedName = (name: string) => name.replace("/", "-");

/** Programs write lines with the time of the day. */
const withoutTimes = (text: string) => text.replace(/\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d/g, "");

async function done(folder: Project, ...argv: string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await cli(argv, { cwd: folder.path, env: { CLAUDIKINS_DAEMON: "off" } });
  if (exitCode !== 0) throw new Error(`${argv.join(" ")}: ${stderr}`);
  return stdout;
}

/** The places of the values in a result, with one value of each: `orders.*.id`. */
export function leavesOf(
  value: unknown,
  path: readonly string[] = [],
  found = new Map<string, unknown>(),
): Map<string, unknown> {
  if (Array.isArray(value)) for (const each of value.slice(0, 5)) leavesOf(each, [...path, "*"], found);
  else if (typeof value === "object" && value !== null) {
    for (const [key, each] of Object.entries(value as JsonObject)) leavesOf(each, [...path, key], found);
  } else if (path.length > 0 && path.at(-1) !== "*" && value !== null) {
    const place = path.join(".");
    if (!found.has(place)) found.set(place, value);
  }
  return found;
}

/** The places of the lists in a result. */
export function listsOf(value: unknown, path: readonly string[] = []): string[] {
  if (Array.isArray(value)) return value.length > 1 ? [path.join(".")] : [];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value as JsonObject).flatMap(([key, each]) => listsOf(each, [...path, key]));
}
