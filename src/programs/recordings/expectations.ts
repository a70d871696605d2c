/** Places of a recording whose exact value does not matter, and what is expected there instead. */
import { ClaudikinsError } from "../../base/errors.ts";
import { isObject, type JsonObject } from "../../base/json-object.ts";
import { checkArguments } from "../../tools/arguments/check-arguments.ts";

/** Keys and places in lists, from the outside: `["calls", 2, "arguments", "since"]`. */
export type Path = readonly (string | number)[];

/** `output.items[*].id`; a key that is no word stands in brackets: `output["a key"]`. */
const step = /^(?:\.?([A-Za-z_$][\w$-]*|\*)|\[(\d+|\*)\]|\[("(?:[^"\\]|\\.)*")\])/;

interface Expectation {
  path: (string | number)[];
  schema: JsonObject;
}

export class Expectations {
  readonly #all: Expectation[];

  /** Throws USAGE for a place that cannot be read. */
  constructor(written: Readonly<Record<string, JsonObject>> = {}) {
    this.#all = Object.entries(written).map(([place, schema]) => ({ path: pathIn(place), schema }));
  }

  /** The schema of a place. Undefined if its exact value matters. */
  at(path: Path): JsonObject | undefined {
    return this.#all.find((each) => each.path.length === path.length && each.path.every(isStepOf(path)))?.schema;
  }
}

function isStepOf(path: Path) {
  return (step: string | number, at: number) => step === "*" || step === path[at];
}

/** Throws USAGE. */
export function pathIn(place: string): (string | number)[] {
  const path: (string | number)[] = [];
  for (let rest = place; rest !== ""; ) {
    const [whole = "", name, index, key] = step.exec(rest) ?? [];
    if (whole === "") throw notPlace(place);
    path.push(
      name ?? (index === undefined || index === "*" ? (index ?? String(JSON.parse(key ?? '""'))) : Number(index)),
    );
    rest = rest.slice(whole.length);
  }
  if (path[0] === "output" || path[0] === "logs" || (path[0] === "calls" && path[2] === "arguments")) return path;
  throw notPlace(place);
}

function notPlace(place: string): ClaudikinsError {
  return new ClaudikinsError("USAGE", `A recording has no place that is written as "${place}"`, {
    hint: "Examples: output.items[*].id, logs[0], calls[0].arguments.since, calls[*].arguments.id",
  });
}

/** `output.items[0].id` */
export function placeText(path: Path): string {
  return path.reduce<string>((text, each, at) => {
    if (typeof each === "number") return `${text}[${each}]`;
    if (!/^[A-Za-z_$][\w$-]*$/.test(each)) return `${text}[${JSON.stringify(each)}]`;
    return at === 0 ? each : `${text}.${each}`;
  }, "");
}

/** Why a value is not as expected. Undefined if it is. */
export async function problemWith(value: unknown, schema: JsonObject): Promise<string | undefined> {
  if (Object.keys(schema).length === 0) return undefined;
  const around = { type: "object", properties: { value: schema }, required: ["value"] };
  const [problem] = await checkArguments(around, value === undefined ? {} : { value });
  return problem;
}

/**
 * Expectations as a person writes them: `output.at` takes anything, and `output.id=^R-` takes texts that the regular expression finds. Throws
 * USAGE.
 */
export function expectationsOf(ignored: readonly string[], matched: readonly string[]): Record<string, JsonObject> {
  const texts = matched.map((each): [string, JsonObject] => {
    const at = each.indexOf("=");
    const [place, pattern] = [each.slice(0, at), each.slice(at + 1)];
    if (at <= 0) throw new ClaudikinsError("USAGE", `--matches takes PLACE=REGEX, got "${each}"`);
    return [place, { type: "string", pattern: checkedPattern(pattern) }];
  });
  const all = Object.fromEntries([...ignored.map((place): [string, JsonObject] => [place, {}]), ...texts]);
  for (const place of Object.keys(all)) pathIn(place);
  return all;
}

function checkedPattern(pattern: string): string {
  try {
    new RegExp(pattern, "u");
    return pattern;
  } catch (cause) {
    throw new ClaudikinsError("USAGE", `"${pattern}" is not a regular expression`, { cause });
  }
}

/** The kind of a value, as JSON has it: `null`, `list`, `object`, `text`, `number`, `yes or no`. */
export function kindOf(value: unknown): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (isObject(value)) return "an object";
  return { string: "a text", number: "a number", boolean: "true or false" }[typeof value as "string"] ?? "a value";
}
