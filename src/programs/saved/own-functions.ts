/** The two functions of `programs` in code. Loaded when a program calls one: the first program of a session starts 2 ms earlier. */
import { ClaudikinsError } from "../../base/errors.ts";
import type { JsonObject } from "../../base/json-object.ts";
import type { BindingValue } from "../../sandbox/contract.ts";
import { argumentProblems } from "../../tools/arguments/argument-problems.ts";
import type { Recorder } from "../dry-run/plan.ts";
import type { Parts } from "../parts.ts";
import { ProgramLibrary } from "./library.ts";
import { programsServer, saveFunction } from "./model.ts";
import { callOf, runs, save } from "./namespace.ts";
import type { RequestingProgram, StoredRun } from "./requesting-program.ts";
import { programToSave, type SavedNow, store } from "./save.ts";
import { callerOwner, VisiblePrograms } from "./visible-programs.ts";

/** Characters of the value of a run that an agent gets. */
const maxToldValueChars = 10_000;

/** With a recorder, nothing is saved. Throws INVALID_ARGUMENTS, PROGRAM_NOT_FOUND, POLICY_DENIED, FILE_NOT_WRITABLE and USAGE. */
export async function ownFunction(
  name: string,
  args: JsonObject,
  requesting: RequestingProgram,
  parts: Parts,
  recorder: Recorder | undefined,
): Promise<BindingValue> {
  const { inputSchema, signature } = name === saveFunction ? save : runs;
  const problems = await argumentProblems(inputSchema as JsonObject, args);
  if (problems.length > 0) {
    throw new ClaudikinsError("INVALID_ARGUMENTS", `${programsServer}.${name}: ${problems.join("; ")}`, {
      hint: signature,
    });
  }
  if (recorder && name === saveFunction) {
    const { recordCall } = await import("../dry-run/plan.ts");
    recordCall({ server: programsServer, tool: name, args, argsJson: undefined }, recorder);
    return { json: JSON.stringify({ saved: args["name"], state: "not saved: dry run" }) };
  }
  const value =
    name === saveFunction ? await saveLast(args, requesting, parts) : await lastRuns(args, requesting, parts);
  return { json: JSON.stringify(value) };
}

/** Whoever gets the values of runs has read what the runs have read. */
async function lastRuns({ name }: JsonObject, requesting: RequestingProgram, parts: Parts): Promise<object> {
  const place = parts.config.savedPrograms;
  const { name: program } = new VisiblePrograms(place, callerOwner(requesting, parts)).called(String(name));
  const { nextTimes, Schedules } = await import("./schedules.ts");
  const schedules = new Schedules(place).of(program).map((schedule) => {
    const { cron, zone, input, lastRun } = schedule;
    const [next] = nextTimes(schedule, 1);
    const missed = lastRun?.missed ?? 0;
    return { cron, zone, input, next: next && new Date(next).toISOString(), ...(missed > 0 ? { missed } : {}) };
  });
  const runs = await requesting.runsOf(program);
  const read = await Promise.all(runs.map(({ execution }) => parts.sessions.ofExecution(execution)));
  await requesting.caller?.reads.add(read.flat());
  return { schedules, runs: runs.map(toldRun) };
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
  { lastProgram, program, starter, caller, host }: RequestingProgram,
  parts: Parts,
): Promise<object> {
  const last = program ? undefined : lastProgram();
  if (!last) {
    throw new ClaudikinsError("INVALID_ARGUMENTS", "No program that could be saved has worked yet", {
      hint: `Run the program first. Then run a second one: await ${programsServer}.${saveFunction}({ name: "…", input: { … } })`,
    });
  }
  const {
    name,
    input = {},
    description,
    why,
  } = args as {
    name: string;
    input?: JsonObject;
    description?: string;
    why?: string;
  };
  const key = callerOwner({ program, starter }, parts);
  const owner = key === undefined ? undefined : { key, name: parts.config.person?.name ?? key.replace(/^\w+:/, "") };
  await caller?.reads.pending;
  const library = new ProgramLibrary(parts.config.savedPrograms, key);
  // What is kept of the program before is of the session that saved it.
  const labels = [...(caller?.reads.all ?? []), ...(library.find(name)?.labels ?? [])];
  const { code, calls } = last;
  const who = owner?.name ?? host?.name;
  const about = { name, description, why, who, by: "agent" as const, owner, labels };
  const wanted = { ...about, given: input, code, calls };
  const { unattendedStart } = await import("./starters.ts");
  const startedBy = key === undefined ? unattendedStart(name, parts.config.savedPrograms) : undefined;
  const programs = new VisiblePrograms(parts.config.savedPrograms, key);
  const audit = { config: parts.config, store: parts.store, place: "agent" as const };
  const saved = await store(await programToSave(wanted, parts), { library, programs, audit }, (before) => {
    if (before.savedBy === "agent" && startedBy === undefined) return;
    const why = startedBy ?? "was saved by the user";
    throw new ClaudikinsError("POLICY_DENIED", `"${name}" ${why}, so an agent cannot replace it`, {
      hint: `Choose another name. The user can save the program: claudikins programs save last --name ${name}`,
    });
  });
  return answerOf(saved);
}

function answerOf({ program, state, replaced, differences }: SavedNow): object {
  return {
    saved: program.name,
    state,
    version: program.number,
    call: callOf(program),
    mayCall: program.calls,
    replaced,
    ...(differences ? { changes: differences.changes } : {}),
  };
}
