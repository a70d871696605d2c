/** A saved program: code that has a name, typed input, and a list of what it may call. */
import type { JsonObject } from "../../base/json-object.ts";
import { savedProgramsName } from "../../config/saved-programs.ts";
import type { Read } from "../../policy/flow/session-reads.ts";

export interface SavedProgram {
  version: 1;
  /** `revenue-by-region`: the name of its file, and of its tool. */
  name: string;
  description: string;
  /** TypeScript that reads the constant `input`. */
  code: string;
  /** JSON Schema of an object. */
  input: JsonObject;
  /** JSON Schema of the value, if a person has written one. Otherwise it is observed, as for every tool. */
  output?: JsonObject | undefined;
  /** What it may call, sorted: `demo.list_orders`, `files.resources`. */
  calls: string[];
  /** Its versions count from 1. Each change of its code, input, output, permissions or description makes one. */
  number: number;
  /** Milliseconds since 1970. */
  savedAt: number;
  savedBy: SavedBy;
  /** The agent, person or token that has saved this version, if it has a name. */
  who?: string | undefined;
  /** Why this version was saved, as a person or an agent has written it. */
  why?: string | undefined;
  /** How it differs from the version before, in short sentences without their end. Missing for the first one. */
  changes?: string[] | undefined;
  /** The version that its schedules and triggers run: the one that the user has seen. */
  accepted?: number | undefined;
  /** A digest of the reasons why its check fails. Given if the user lets schedules and events start it anyway. */
  anyway?: string | undefined;
  /** Whom it belongs to, if that is a token or a person of `serve --http`. Missing: the user, who shares it with everybody. */
  owner?: ProgramOwner | undefined;
  /** The name of its owner before an administrator shared it. */
  sharedOf?: string | undefined;
  /** What the session that saved it had read. Its text may repeat it, so whoever runs it has read it too. */
  labels?: Read[] | undefined;
  /** What it runs with other programs, see `pins.ts`. Given if the user has saved or scheduled it. */
  pins?: Pins | undefined;
  /** Given if it is from a repository. */
  from?: ProgramSource | undefined;
}

export type SavedBy = "user" | "agent";

export interface ProgramOwner {
  /** `token:ID` or `person:ID`. */
  key: string;
  /** The name of the person, or the ID of the token. */
  name: string;
}

/** The digests of the programs that a program calls, and of those that they call, by their names. */
export type Pins = Record<string, string>;

export interface ProgramSource {
  /** The address of the repository. */
  url: string;
  /** 40 hexadecimal digits. */
  commit: string;
  /** The path of its file in the repository. */
  path: string;
}

/** The name of the server whose tools are the saved programs, and of the namespace in code. */
export const programsServer = savedProgramsName;

/** The function of the namespace with which an agent saves its last program. No program can have its name. */
export const saveFunction = "save";

/** The function that tells an agent how a saved program ran. No program can have its name either. */
export const runsFunction = "runs";

const form = /^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/;

/** The name of one version of a program: `revenue-by-region_v3`. */
export function versionName(name: string, number: number): string {
  return `${name}_v${number}`;
}

/** Whether a text may name a version. */
export function namesVersion(text: string): boolean {
  return /_v[1-9]/.test(text);
}

/** The program and the version that such a name means. Undefined for another name. */
export function versionIn(name: string): { name: string; number: number } | undefined {
  const [, program, number] = /^(.+)_v([1-9]\d{0,8})$/.exec(name) ?? [];
  return program === undefined ? undefined : { name: program, number: Number(number) };
}

/** Says why a name cannot be used. Undefined if it can. */
export function problemOfName(name: string): string | undefined {
  if (name === saveFunction || name === runsFunction) return `"${name}" is the name of a function for saved programs`;
  // In code, a dash is an underscore, and such a name means a version.
  if (/-v\d+$/.test(name)) return 'a name that ends with "-v" and a number means a version';
  return form.test(name) ? undefined : "use at most 64 lower-case letters, digits and dashes";
}

/** The properties of a program's input, and whether each is required. */
export function inputsOf({
  input,
}: Pick<SavedProgram, "input">): [name: string, schema: JsonObject, required: boolean][] {
  const required = new Set(Array.isArray(input["required"]) ? input["required"] : []);
  const properties = Object.entries(Object(input["properties"]) as Record<string, JsonObject>);
  return properties.map(([name, schema]) => [name, schema, required.has(name)]);
}

/** In `_meta` of the tools of the server: an agent has saved the program, for agents of the same owner. */
export const agentMark = "claudikins/saved-by-agent";

export function isOfAgent({ _meta: meta }: { _meta?: JsonObject | undefined }): boolean {
  return meta?.[agentMark] === true;
}
