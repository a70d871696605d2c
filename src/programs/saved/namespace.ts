/**
 * `programs` in code: the saved programs, and two functions. With `programs.save` an agent keeps its last program, and `programs.runs` tells
 * how a program ran.
 */
import type { JsonObject } from "../../base/json-object.ts";
import type { BindingCall, KnownFunction, Namespace } from "../../sandbox/contract.ts";
import { toIdentifier } from "../../tools/names.ts";
import type { Parts } from "../parts.ts";
import { inputsOf, programsServer, runsFunction, type SavedProgram, saveFunction } from "./model.ts";

const saveSchema: JsonObject = {
  type: "object",
  properties: {
    name: { type: "string", description: "Lower-case letters, digits and dashes" },
    input: { type: "object", description: "Values of the last program that become inputs, by the names of the inputs" },
    description: { type: "string" },
    why: { type: "string", description: "Why it is changed" },
  },
  required: ["name"],
  additionalProperties: false,
};

export const save: KnownFunction = {
  name: saveFunction,
  jsName: saveFunction,
  inputSchema: saveSchema,
  signature: `${programsServer}.${saveFunction}({ name: string, input?: object, description?: string, why?: string }) // keeps the last program`,
};

const runsSchema: JsonObject = {
  type: "object",
  properties: { name: { type: "string" } },
  required: ["name"],
  additionalProperties: false,
};

export const runs: KnownFunction = {
  name: runsFunction,
  jsName: runsFunction,
  inputSchema: runsSchema,
  signature: `${programsServer}.${runsFunction}({ name: string }) // the last runs in the background or on a schedule, with their values`,
};

const own = [save, runs];

/** Whether the config has a server of its own with the name. */
export function isTaken({ config }: Pick<Parts, "config">): boolean {
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

/** How code calls the program: `programs.revenue_by_region({ month })`. */
export function callOf(program: Pick<SavedProgram, "name" | "input">): string {
  const names = inputsOf(program).map(([name]) => name);
  return `${programsServer}.${toIdentifier(program.name)}(${names.length === 0 ? "" : `{ ${names.join(", ")} }`})`;
}
