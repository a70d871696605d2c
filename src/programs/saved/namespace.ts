/** `programs` in code: the saved programs, and `programs.save`, with which an agent keeps its last program. */
import { ClaudikinsError } from "../../base/errors.ts";
import type { JsonObject } from "../../base/json-object.ts";
import type { BindingCall, BindingValue, KnownFunction, Namespace } from "../../sandbox/contract.ts";
import { argumentProblems } from "../../tools/arguments/argument-problems.ts";
import { toIdentifier } from "../../tools/names.ts";
import type { Parts } from "../parts.ts";
import { ProgramLibrary } from "./library.ts";
import { inputsOf, programsServer, type SavedProgram, saveFunction } from "./model.ts";
import type { RequestingProgram } from "./requesting-program.ts";
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

/** Whether the config has a server of its own with the name. */
function isTaken({ config }: Pick<Parts, "config">): boolean {
  const server = config.servers.get(programsServer) ?? config.disabled.get(programsServer);
  return server !== undefined && !server.isSavedPrograms;
}

/** The namespaces with `programs.save`. */
export function withSaving(namespaces: readonly Namespace[], parts: Pick<Parts, "config">): Namespace[] {
  if (isTaken(parts)) return [...namespaces];
  const found = namespaces.find(({ name }) => name === programsServer);
  if (!found) return [...namespaces, { name: programsServer, jsName: programsServer, functions: [save] }];
  const { functions } = found;
  const all = functions === "any" ? functions : [...functions, save];
  return namespaces.map((each) => (each === found ? { ...each, functions: all } : each));
}

export function isSaving({ namespace, group, name }: BindingCall, parts: Pick<Parts, "config">): boolean {
  return namespace === programsServer && group === "tools" && name === saveFunction && !isTaken(parts);
}

/** Saves the last program. Throws INVALID_ARGUMENTS, POLICY_DENIED, FILE_NOT_WRITABLE and USAGE. */
export async function saveLast(
  args: JsonObject,
  { lastProgram, program }: RequestingProgram,
  parts: Pick<Parts, "catalog" | "config">,
): Promise<BindingValue> {
  const problems = await argumentProblems(saveSchema, args);
  if (problems.length > 0) {
    throw new ClaudikinsError("INVALID_ARGUMENTS", `${programsServer}.${saveFunction}: ${problems.join("; ")}`, {
      hint: save.signature,
    });
  }
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
  return { json: JSON.stringify(answerOf(saved)) };
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
