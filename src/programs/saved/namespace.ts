/**
 * `programs` in code: the saved programs, and two functions. With `programs.save` an agent keeps its last program, and `programs.runs` tells
 * how a program ran.
 */
import { ClaudikinsError } from "../../base/errors.ts";
import type { JsonObject } from "../../base/json-object.ts";
import type { BindingCall, BindingValue, KnownFunction, Namespace } from "../../sandbox/contract.ts";
import { argumentProblems } from "../../tools/arguments/argument-problems.ts";
import { toIdentifier } from "../../tools/names.ts";
import { maxToldValueChars } from "../limits.ts";
import type { Parts } from "../parts.ts";
import { ProgramLibrary } from "./library.ts";
import { inputsOf, programsServer, runsFunction, type SavedProgram, saveFunction } from "./model.ts";
import type { RequestingProgram, StoredRun } from "./requesting-program.ts";
import { programToSave, type SavedNow, store } from "./save.ts";

const saveSchema: JsonObject = {
  type: "object",
  properties: {
    name: { type: "string", description: "Lower-case letters, digits and dashes" },
    input: { type: "object", description: "Values of the last program that become inputs, by the names of the inputs" },
    description: { type: "string" },
  },
  required: ["name"],
  additionalProperties: false,
};

const save: KnownFunction = {
  name: saveFunction,
  jsName: saveFunction,
  inputSchema: saveSchema,
  signature: `${programsServer}.${saveFunction}({ name: string, input?: object, description?: string }) // keeps the last program`,
};

const runsSchema: JsonObject = {
  type: "object",
  properties: { name: { type: "string" } },
  required: ["name"],
  additionalProperties: false,
};

const runs: KnownFunction = {
  name: runsFunction,
  jsName: runsFunction,
  inputSchema: runsSchema,
  signature: `${programsServer}.${runsFunction}({ name: string }) // the last runs in the background or on a schedule, with their values`,
};

const own = [save, runs];

/** Whether the config has a server of its own with the name. */
function isTaken({ config }: Pick<Parts, "config">): boolean {
  const server = config.servers.get(programsServer) ?? config.disabled.get(programsServer);
  return server !== undefined && !server.isSavedPrograms;
}

/** The namespaces with both functions. */
export function withOwnFunctions(namespaces: readonly Namespace[], parts: Pick<Parts, "config">): Namespace[] {
  if (isTaken(parts)) return [...namespaces];
  const found = namespaces.find(({ name }) => name === programsServer);
  if (!found) return [...namespaces, { name: programsServer, jsName: programsServer, functions: own }];
  const { functions } = found;
  const all = functions === "any" ? functions : [...functions, ...own];
  return namespaces.map((each) => (each === found ? { ...each, functions: all } : each));
}

export function isOwnFunction({ namespace, group, name }: BindingCall, parts: Pick<Parts, "config">): boolean {
  return namespace === programsServer && group === "tools" && own.some((each) => each.name === name) && !isTaken(parts);
}

/** Throws INVALID_ARGUMENTS, PROGRAM_NOT_FOUND, POLICY_DENIED, FILE_NOT_WRITABLE and USAGE. */
export async function ownFunction(
  name: string,
  args: JsonObject,
  requesting: RequestingProgram,
  parts: Pick<Parts, "catalog" | "config">,
): Promise<BindingValue> {
  const { inputSchema, signature } = name === saveFunction ? save : runs;
  const problems = await argumentProblems(inputSchema as JsonObject, args);
  if (problems.length > 0) {
    throw new ClaudikinsError("INVALID_ARGUMENTS", `${programsServer}.${name}: ${problems.join("; ")}`, {
      hint: signature,
    });
  }
  const value =
    name === saveFunction ? await saveLast(args, requesting, parts) : await lastRuns(args, requesting, parts);
  return { json: JSON.stringify(value) };
}

async function lastRuns(
  { name }: JsonObject,
  { runsOf }: RequestingProgram,
  { config }: Pick<Parts, "config">,
): Promise<object> {
  const { name: program } = new ProgramLibrary(config.savedPrograms).get(String(name));
  const { nextTimes, Schedules } = await import("./schedules.ts");
  const schedules = new Schedules(config.savedPrograms).of(program).map((schedule) => {
    const { cron, zone, input, lastRun } = schedule;
    const [next] = nextTimes(schedule, 1);
    const missed = lastRun?.missed ?? 0;
    return { cron, zone, input, next: next && new Date(next).toISOString(), ...(missed > 0 ? { missed } : {}) };
  });
  return { schedules, runs: (await runsOf(program)).map(toldRun) };
}

function toldRun({ execution, startedAt, outcome }: StoredRun): object {
  const at = new Date(startedAt).toISOString();
  if (!outcome) return { execution, at, state: "running" };
  if (!outcome.ok) return { execution, at, state: "failed", error: outcome.error.message };
  const json = outcome.json ?? JSON.stringify(outcome.value) ?? "null";
  const value = json.length > maxToldValueChars ? `${json.slice(0, maxToldValueChars)}…` : JSON.parse(json);
  return { execution, at, state: "ok", value };
}

async function saveLast(
  args: JsonObject,
  { lastProgram, program }: RequestingProgram,
  parts: Pick<Parts, "catalog" | "config">,
): Promise<object> {
  const last = program ? undefined : lastProgram();
  if (!last) {
    throw new ClaudikinsError("INVALID_ARGUMENTS", "No program that could be saved has worked yet", {
      hint: `Run the program first. Then run a second one: await ${programsServer}.${saveFunction}({ name: "…", input: { … } })`,
    });
  }
  const { name, input = {}, description } = args as { name: string; input?: JsonObject; description?: string };
  const wanted = { name, given: input, description, code: last.code, calls: last.calls, by: "agent" as const };
  const library = new ProgramLibrary(parts.config.savedPrograms);
  const { Schedules } = await import("./schedules.ts");
  const isScheduled = new Schedules(parts.config.savedPrograms).of(name).length > 0;
  const saved = await store(await programToSave(wanted, parts), library, (before) => {
    if (before.savedBy === "agent" && !isScheduled) return;
    const why = isScheduled ? "is scheduled" : "was saved by the user";
    throw new ClaudikinsError("POLICY_DENIED", `"${name}" ${why}, so an agent cannot replace it`, {
      hint: "Choose another name, or ask the user.",
    });
  });
  return answerOf(saved);
}

function answerOf({ program, state, replaced, differences }: SavedNow): object {
  return {
    saved: program.name,
    state,
    call: callOf(program),
    mayCall: program.calls,
    replaced,
    ...(differences ? { changes: differences.changes } : {}),
  };
}

/** How code calls the program: `programs.revenue_by_region({ month })`. */
export function callOf(program: Pick<SavedProgram, "name" | "input">): string {
  const names = inputsOf(program).map(([name]) => name);
  return `${programsServer}.${toIdentifier(program.name)}(${names.length === 0 ? "" : `{ ${names.join(", ")} }`})`;
}
