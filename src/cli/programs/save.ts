/** `claudikins programs save`: keeps a program under a name. */
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { App } from "../../app/app.ts";
import { ClaudikinsError, messageOf, systemCodeOf } from "../../base/errors.ts";
import { isObject, type JsonObject, parsedJson } from "../../base/json-object.ts";
import { about, list as listOf, number, oneOf, record, text, texts } from "../../base/json-shape.ts";
import { visibleText } from "../../base/visible-text.ts";
import type { Read } from "../../policy/flow/session-reads.ts";
import { differencesOf } from "../../programs/saved/differences.ts";
import { executedProgram } from "../../programs/saved/from-execution.ts";
import { withoutFunction } from "../../programs/saved/last-programs.ts";
import { digestOf, ProgramLibrary } from "../../programs/saved/library.ts";
import { problemOfName, type SavedProgram } from "../../programs/saved/model.ts";
import { callOf } from "../../programs/saved/namespace.ts";
import { type ProgramToSave, programToSave, type SavedNow, store } from "../../programs/saved/save.ts";
import { unifiedDiff } from "../../setup/unified-diff.ts";
import { command, flag, option, pairs, place, repeatable } from "../command.ts";
import { viewArgs } from "../flags/config-flags.ts";
import type { Io } from "../io.ts";
import { openApp } from "../open-app.ts";
import { requireConsent } from "../terminal/prompt.ts";
import { colouredDiff } from "../terminal/terminal-output.ts";
import { valuesFrom } from "./input.ts";
import { startedNote, whyArg } from "./version-texts.ts";

export const save = command({
  description:
    "Save a program under a name. Agents then find it by searching and call it like a tool. Values in its code become inputs, and it may call only what it calls now.",
  args: {
    program: place(
      "A TypeScript file, - for standard input, last or the id of an execution that was recorded with its contents, or the name of a saved program to change",
      { required: true, complete: "file" },
    ),
    values: place("Values in the code that become inputs: name=text or name:=json", { required: false, ...pairs }),
    name: option("The name: lower-case letters, digits and dashes", { valueHint: "name" }),
    description: option("What it does (default: the comment at the beginning of the code)", { valueHint: "text" }),
    call: option("Something else that it may call, such as demo.list_orders or files.resources (repeatable)", {
      valueHint: "server.tool",
      complete: "tool",
      ...repeatable,
    }),
    "input-schema": option("JSON Schema of its input, as JSON or @file (default: from the values and the code)", {
      valueHint: "json",
    }),
    "output-schema": option("JSON Schema of its value, as JSON or @file (default: observed when it runs)", {
      valueHint: "json",
    }),
    why: whyArg,
    replace: flag("Replace another program of that name without asking"),
    "dry-run": flag("Show what would be saved, and save nothing"),
    ...viewArgs,
  },
  examples: [
    "claudikins programs save report.ts --name revenue-by-region month=2026-10",
    "claudikins programs save last --name revenue-by-region month=2026-10",
    "claudikins programs save totals --call demo.get_customer --replace",
  ],
  json: record({
    name: text,
    state: oneOf("new", "changed", "unchanged", "not saved"),
    version: number,
    call: about("How code calls it", text),
    calls: about("What it may call", texts),
    replaced: about("How often each value was replaced in the code", listOf(record({ input: text, places: number }))),
    "changes?": about("How it differs from what was saved before", texts),
    code: text,
  }),
  async run(args, io) {
    await using app = await openApp(io, args);
    const library = new ProgramLibrary(app.config.savedPrograms);
    const schemas = {
      input: await schemaIn(args["input-schema"], "--input-schema", io),
      output: await schemaIn(args["output-schema"], "--output-schema", io),
    };
    const found = await programNamed(args.program, library, app, io);
    const name = args.name ?? found.name;
    if (name === undefined) {
      throw new ClaudikinsError("USAGE", "The program needs a name", {
        hint: "Add --name, such as --name revenue-by-region.",
      });
    }
    const { description = found.description } = args;
    const calls = [...(found.calls ?? []), ...args.call.map(withoutFunction)];
    const given = await valuesFrom(args.values, io);
    const { code, labels } = found;
    const wanted: ProgramToSave = { name, code, given, description, calls, schemas, labels, why: args.why, by: "user" };
    const made = await programToSave(wanted, app);
    const before = library.find(name);
    // A program that is changed keeps what is not given again.
    if (before && found.name === name) keepSchemas(made.program, before, given, schemas);
    const isOther = before !== undefined && digestOf(before) !== digestOf(made.program);
    if (args["dry-run"]) return answerOf({ ...made, state: "new" }, before, true);
    if (isOther && args.replace !== true) await mayReplace(before, made.program, io);
    const audit = { config: app.config, store: app.store, place: "command" as const };
    const saved = await store(made, { library, programs: library, audit }, (now) => {
      if (before && digestOf(now) === digestOf(before)) return;
      throw new ClaudikinsError("USAGE", `The program "${name}" was changed at this moment. Nothing was saved`);
    });
    return { ...answerOf(saved, before, false), note: startedNote(saved.program, app.config.savedPrograms) };
  },
});

interface FoundProgram {
  code: string;
  name?: string | undefined;
  description?: string | undefined;
  calls?: readonly string[] | undefined;
  /** What the session that ran or saved it had read. */
  labels?: readonly Read[] | undefined;
}

async function programNamed(wanted: string, library: ProgramLibrary, app: App, io: Io): Promise<FoundProgram> {
  if (wanted === "-") return { code: await io.stdin.text() };
  const saved = problemOfName(wanted) === undefined ? library.find(wanted) : undefined;
  if (saved) return saved;
  if (wanted === "last" || /^[0-9a-z]{8,}(?:-\d+)*$/.test(wanted))
    return executedProgram(wanted, app, await app.executions());
  try {
    return { code: await readFile(resolve(io.cwd, wanted), "utf8") };
  } catch (cause) {
    const why = systemCodeOf(cause) === "ENOENT" ? "the file does not exist" : messageOf(cause);
    throw new ClaudikinsError("FILE_NOT_FOUND", `Cannot read ${wanted}: ${why}`, { cause });
  }
}

async function schemaIn(value: string | undefined, what: string, io: Io): Promise<JsonObject | undefined> {
  if (value === undefined) return undefined;
  const source = value.startsWith("@")
    ? await readFile(resolve(io.cwd, value.slice(1)), "utf8").catch(() => "")
    : value;
  const schema = parsedJson(source);
  if (isObject(schema) && schema["type"] === "object") return schema;
  if (what === "--output-schema" && isObject(schema)) return schema;
  throw new ClaudikinsError("USAGE", `${what} takes a JSON Schema of an object, as JSON or @file`, {
    hint: `Example: ${what} '{"type": "object", "properties": {"month": {"type": "string"}}}'`,
  });
}

function keepSchemas(
  program: SavedProgram,
  before: SavedProgram,
  given: JsonObject,
  schemas: { input: JsonObject | undefined; output: JsonObject | undefined },
): void {
  if (!schemas.input) {
    const [old, added] = [before.input, program.input].map((each) => Object(each["properties"]) as JsonObject);
    const properties = {
      ...added,
      ...old,
      ...Object.fromEntries(Object.keys(given).map((name) => [name, added?.[name]])),
    };
    const required = [...new Set([...[before.input["required"] ?? []].flat(), ...Object.keys(given)])];
    program.input = { ...before.input, properties, required };
  }
  if (!schemas.output && before.output) program.output = before.output;
}

/** Throws USAGE and CANCELLED. */
export async function mayReplace(before: SavedProgram, program: SavedProgram, io: Io): Promise<void> {
  const { changes } = differencesOf(before, program);
  const lines = changes.map((change) => `  ${change}\n`).join("");
  const diff = unifiedDiff(`${before.name}.ts`, before.code, program.code);
  await requireConsent(io, false, {
    question: `Replace the program "${before.name}"?`,
    shown: visibleText(lines) + colouredDiff(visibleText(diff)),
    needed: `Another program is saved as "${before.name}". What would change: ${changes.join("; ") || "its code"}`,
    hint: "To replace it, add --replace. To see it: claudikins programs show NAME",
    refused: "Nothing was saved",
  });
}

function answerOf(
  { program, state, replaced, differences }: SavedNow,
  before: SavedProgram | undefined,
  isDry: boolean,
) {
  const { name, code, calls, number: version } = program;
  const changes = (differences ?? (before && differencesOf(before, program)))?.changes;
  const places = Object.entries(replaced).map(([input, count]) => ({ input, places: count }));
  const json = {
    name,
    state: isDry ? "not saved" : state,
    version: isDry ? (before?.number ?? 0) + 1 : version,
    call: callOf(program),
    calls,
    replaced: places,
    ...(changes ? { changes } : {}),
    code,
  };
  const words = { new: "Saved", changed: "Changed", unchanged: "Unchanged:" };
  const lines = [
    `${isDry ? "Would save" : words[state]} ${name}: ${callOf(program)}`,
    `It may call ${calls.join(", ") || "nothing"}.`,
    ...(changes ?? []).map((change) => `  ${change}`),
    ...(isDry ? ["", code.trimEnd()] : []),
  ];
  return { json, text: `${visibleText(lines.join("\n"))}\n` };
}
