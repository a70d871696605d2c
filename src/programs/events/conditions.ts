/** What a trigger says about an event in CEL: whether it starts the program, and with which input. */
import { ClaudikinsError, messageOf } from "../../base/errors.ts";
import type { JsonObject } from "../../base/json-object.ts";
import { Fields, fromJson, List, type Value } from "../../config/cel/values.ts";
import { Undecidable, Work } from "../../config/cel/work.ts";
import { languageOf } from "../../config/condition.ts";
import type { Trigger } from "./stored-triggers.ts";

let language: ReturnType<typeof languageOf> | undefined;

/** Reads an expression about `event`. Throws an error whose first line says what is wrong with it. */
function expression(text: string) {
  language ??= languageOf({ event: "map" });
  return language(text);
}

function evaluated(text: string, event: JsonObject, work: Work) {
  const value = fromJson(event);
  return expression(text).evaluate({ variable: () => value, work, locals: [] });
}

/** Throws USAGE if an expression has a mistake. */
export function checkConditions({ filter, map }: Pick<Trigger, "filter" | "map">): void {
  const check = (what: string, text: string, mustDecide: boolean) => {
    let type: string;
    try {
      ({ type } = expression(text));
    } catch (cause) {
      const why = messageOf(cause).split("\n", 1)[0]!.trim();
      throw new ClaudikinsError("USAGE", `${what}: ${why}`, { hint: example, cause });
    }
    if (!mustDecide || type === "bool" || type === "dyn") return;
    throw new ClaudikinsError("USAGE", `${what}: it is a ${type}, and must be true or false`, {
      hint: example,
    });
  };
  if (filter !== undefined) check(`The filter ${filter}`, filter, true);
  for (const [name, text] of Object.entries(map)) check(`The input ${name}=${text}`, text, false);
}

const example = `Expressions are in CEL, about the event: --filter 'event.body.action == "opened"'`;

/** Whether the event starts the program. An event about which the filter says nothing, such as one without the field, does not. */
export function passes({ filter }: Pick<Trigger, "filter">, event: JsonObject): boolean {
  if (filter === undefined) return true;
  try {
    return evaluated(filter, event, new Work()) === true;
  } catch {
    return false;
  }
}

/** The input that a trigger gives. Throws INVALID_ARGUMENTS. */
export function inputFor({ input, map }: Pick<Trigger, "input" | "map">, event: JsonObject): JsonObject {
  return { ...input, ...mappedInput({ map }, event) };
}

/** The input that is made of the event. Throws INVALID_ARGUMENTS. */
function mappedInput({ map }: Pick<Trigger, "map">, event: JsonObject): JsonObject {
  const work = new Work();
  return Object.fromEntries(
    Object.entries(map).map(([name, text]) => {
      try {
        return [name, jsonOf(evaluated(text, event, work), work)];
      } catch (cause) {
        throw new ClaudikinsError("INVALID_ARGUMENTS", `${name}: ${text} has no value: ${messageOf(cause)}`, { cause });
      }
    }),
  );
}

/** Levels of a value that becomes input. */
const maxInputDepth = 100;

/** Throws Undecidable for a value that JSON does not have, such as a time. */
function jsonOf(value: Value, work: Work, depth = 0): unknown {
  work.take(5);
  if (depth > maxInputDepth) throw new Undecidable("the value is nested too deeply");
  if (typeof value === "bigint") return Number(value);
  if (value === null || typeof value !== "object") return value;
  if (value instanceof List) {
    return Array.from({ length: value.size }, (_, index) => jsonOf(value.at(index), work, depth + 1));
  }
  if (!(value instanceof Fields))
    throw new Undecidable("JSON does not have such a value: make a text of it with string()");
  const entries = value.keys(work).map((key) => [String(key), jsonOf(value.get(key) ?? null, work, depth + 1)]);
  return Object.fromEntries(entries);
}
