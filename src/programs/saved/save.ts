/** Saves a program under a name. */
import { isDeepStrictEqual } from "node:util";
import { ClaudikinsError } from "../../base/errors.ts";
import type { JsonObject } from "../../base/json-object.ts";
import { exceededLimit } from "../../policy/argument-size.ts";
import type { Read } from "../../policy/flow/session-reads.ts";
import { CheckError } from "../../sandbox/code/check-error.ts";
import { withoutFences } from "../../sandbox/code/transpile.ts";
import type { Reason } from "../drift/contract.ts";
import { digestOfReasons } from "../drift/reasons.ts";
import { maxSavedCodeChars } from "../limits.ts";
import { learnMentioned } from "../mentioned-servers.ts";
import type { Parts } from "../parts.ts";
import { commentIn } from "../trace/about.ts";
import { type ProgramAudit, programText, recordProgram } from "./audited.ts";
import { type Differences, differencesOf } from "./differences.ts";
import { withInputs } from "./inputs.ts";
import { digestOf, type ProgramLibrary } from "./library.ts";
import {
  type Pins,
  type ProgramOwner,
  type ProgramSource,
  problemOfName,
  programsServer,
  runsFunction,
  type SavedBy,
  type SavedProgram,
  saveFunction,
} from "./model.ts";
import { type Callable, pinsOf, requirePinned } from "./pins.ts";

/** Characters of the description of a saved program, which searches show. */
const maxSavedDescriptionChars = 1_000;

/** Characters of the reason for a version. */
const maxWhyChars = 500;

/** Characters of the name of the agent, person or token that has saved a version. */
const maxWhoChars = 100;

/** The schemas of a saved program. The file of the program has them as indented JSON, which grows with the square of the levels. */
const savedSchemaLimits = { characters: 1_000_000, values: 20_000, levels: 500 };

/** A saved program cannot use them. */
const ownFunctions: ReadonlySet<string> = new Set(
  [saveFunction, runsFunction].map((name) => `${programsServer}.${name}`),
);

export interface ProgramToSave {
  name: string;
  code: string;
  /** Values that become inputs, by their names. */
  given: JsonObject;
  description?: string | undefined;
  /** What it called when it ran, and what it may call beside that. What its code names is found. */
  calls: readonly string[];
  /** Replaces the schemas that are found. */
  schemas?: { input?: JsonObject | undefined; output?: JsonObject | undefined } | undefined;
  by: SavedBy;
  owner?: ProgramOwner | undefined;
  /** What the session had read from which the code is. */
  labels?: readonly Read[] | undefined;
  from?: ProgramSource | undefined;
  /** The author of the version, and the reason for it. */
  who?: string | undefined;
  why?: string | undefined;
}

export interface SavedNow {
  program: SavedProgram;
  state: "new" | "changed" | "unchanged";
  /** Given if another program had the name. */
  differences?: Differences | undefined;
  /** How often each given value was replaced in the code. */
  replaced: Record<string, number>;
}

/** What would be saved. Throws INVALID_ARGUMENTS for what cannot be saved. */
export async function programToSave(
  wanted: ProgramToSave,
  parts: Pick<Parts, "catalog">,
): Promise<Pick<SavedNow, "program" | "replaced">> {
  const { name, given, schemas, by, from, owner, labels = [] } = wanted;
  // Its input stands before the code, which would hide a fence.
  const code = withoutFences(wanted.code);
  const problem = problemOfName(name);
  if (problem !== undefined) throw refused(`"${name}" cannot be the name of a program: ${problem}`);
  if (code.trim() === "") throw refused("The program is empty");
  if (code.length > maxSavedCodeChars) {
    throw refused(`The program has ${code.length} characters. At most ${maxSavedCodeChars} can be saved`);
  }
  for (const [what, schema] of Object.entries(schemas ?? {})) {
    const limit = schema && exceededLimit(schema, savedSchemaLimits);
    if (limit !== undefined) throw refused(`The ${what} schema of "${name}" has more than ${limit}`);
  }
  await learnMentioned(code, parts);
  const { replaced, ...made } = await withInputs(code, given, parts).catch((error: unknown) => {
    if (!(error instanceof CheckError)) throw error;
    const { message, line } = error.error;
    throw refused(`The program cannot be saved: ${message}${line === undefined ? "" : ` (line ${line})`}`);
  });
  const output = schemas?.output;
  const isLabelled = labels.length > 0;
  // Searches show them to sessions that have not read what this one has.
  const written = isLabelled ? undefined : wanted.description?.trim() || commentIn(code);
  const input = schemas?.input ?? made.input;
  const program: SavedProgram = {
    version: 1,
    name,
    description: (written || wordsOf(name)).slice(0, maxSavedDescriptionChars),
    code: made.code,
    input: isLabelled ? withoutExamples(input) : input,
    ...(output ? { output } : {}),
    calls: [...new Set([...wanted.calls, ...made.calls])].filter((id) => !ownFunctions.has(id)).sort(),
    number: 1,
    savedAt: Date.now(),
    savedBy: by,
    ...(wanted.who ? { who: wanted.who.slice(0, maxWhoChars) } : {}),
    ...(wanted.why?.trim() ? { why: wanted.why.trim().slice(0, maxWhyChars) } : {}),
    ...(owner ? { owner } : {}),
    ...(isLabelled ? { labels: [...labels] } : {}),
    ...(from ? { from } : {}),
  };
  return { program, replaced };
}

interface StoreOptions {
  library: ProgramLibrary;
  /** Where the programs are found that it calls. The user has seen them as they are now. */
  programs: Callable;
  audit: ProgramAudit;
  /** What is done, if no program has the name. */
  decision?: "saved" | "shared";
}

/**
 * Saves the program. `confirm` is asked before another program of that name is replaced, and throws to keep it. Throws FILE_NOT_WRITABLE,
 * and USAGE if too many programs are saved.
 */
export async function store(
  { program: wanted, replaced }: Pick<SavedNow, "program" | "replaced">,
  { library, programs, audit, decision = "saved" }: StoreOptions,
  confirm: (before: SavedProgram, differences: Differences) => void,
): Promise<SavedNow> {
  const program = wanted.savedBy === "user" ? { ...wanted, pins: pinsOf(wanted, programs) } : wanted;
  let result: SavedNow = { program, state: "new", replaced };
  await library.change(program.name, async (before) => {
    if (!before) {
      await recordProgram(decision, program, programText(program), audit);
      result = { ...result, program: { ...program, number: 1 } };
      return result.program;
    }
    // What the user saves is the user's from then on.
    const isTaken = before.savedBy === "agent" && program.savedBy === "user";
    if (!isTaken && digestOf(before) === digestOf(program) && before.description === program.description) {
      result = { program: before, state: "unchanged", replaced };
      return before;
    }
    const differences = differencesOf(before, program);
    confirm(before, differences);
    await recordProgram(decision === "shared" ? decision : "replaced", program, programText(program, before), audit);
    const { number, accepted } = before;
    const next = { number: number + 1, changes: differences.changes };
    const changed = { ...program, ...next, ...(accepted === undefined ? {} : { accepted }) };
    result = { program: changed, state: "changed", differences, replaced };
    return changed;
  });
  return result;
}

/** What the user has seen of a program. */
export interface Accepted {
  /** The version that its schedules and triggers run from now on. */
  number: number;
  /** What it calls. */
  pins: Pins;
  /** Why its check fails, if schedules and events may start it anyway. */
  anyway?: readonly Reason[] | undefined;
}

/**
 * Accepts a program, and what it calls, as the user has seen both. Throws PROGRAM_NOT_FOUND, FILE_NOT_WRITABLE, and USAGE if something has
 * changed since.
 */
export async function acceptProgram(
  name: string,
  { number, pins, anyway = [] }: Accepted,
  { library, audit }: Pick<StoreOptions, "library" | "audit">,
): Promise<void> {
  await library.change(name, async (before) => {
    const program = before ?? library.get(name);
    if (program.number !== number || !isDeepStrictEqual(pins, pinsOf(program, library))) {
      throw new ClaudikinsError("USAGE", `"${name}" or what it calls was changed at this moment. Nothing was accepted`);
    }
    const seen = Object.entries(pins).map(([called, digest]) => `${called}: SHA-256 ${digest}`);
    const failing = anyway.length === 0 ? "" : `; although ${anyway.map(({ text }) => text).join("; ")}`;
    const line = `version ${number}; it calls ${seen.join(", ") || "no program"}${failing}`;
    await recordProgram("accepted", program, line, audit);
    const { anyway: _, ...rest } = program;
    return { ...rest, pins, accepted: number, ...(anyway.length === 0 ? {} : { anyway: digestOfReasons(anyway) }) };
  });
}

/** The same for a program that is to run while nobody looks. What is accepted already needs no line of the audit log. */
export async function acceptToStart(program: SavedProgram, options: Pick<StoreOptions, "library" | "audit">) {
  const { name, number, pins, accepted } = program;
  const { library } = options;
  requirePinned(program, library);
  if (!pins) await acceptProgram(name, { number, pins: pinsOf(program, library) }, options);
  else if (accepted !== number) await library.change(name, (now = program) => ({ ...now, accepted: number }));
}

/** The schema without the values that were given. */
function withoutExamples(input: JsonObject): JsonObject {
  const properties = Object.entries(Object(input["properties"]) as Record<string, JsonObject>);
  const bare = properties.map(([name, { examples: _, ...schema }]) => [name, schema]);
  return { ...input, properties: Object.fromEntries(bare) };
}

/** `revenue-by-region` is "Revenue by region". */
function wordsOf(name: string): string {
  const words = name.replaceAll("-", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function refused(message: string): ClaudikinsError {
  return new ClaudikinsError("INVALID_ARGUMENTS", message);
}
