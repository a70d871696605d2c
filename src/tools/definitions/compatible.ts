/**
 * Finds what a server may do to a program by another definition of a tool: which parts of its results may be missing, or of another type. A
 * caller of a tool is safe if every result of the new definition was possible with the old one. Results that are only described less
 * exactly count as unchanged, because that says nothing of what the server sends.
 */
import { isObject, type JsonObject } from "../../base/json-object.ts";
import { typesIn } from "../../base/json-schema.ts";
import { oneLine } from "../../base/visible-text.ts";
import { maxShownNameChars } from "../limits.ts";
import { madeUpValue } from "../made-up.ts";
import { type Form, formOf } from "./schema-form.ts";

/** Levels of a schema that are compared. */
const maxComparedDepth = 24;

/** Pairs of schemas that are compared, because references can make a small schema infinitely large. */
const maxComparedPairs = 5_000;

/** Changes of one tool that are found. */
const maxFoundChanges = 50;

/** Keys from the outside. Null stands for each item of a list, or for each value of an object whose keys are data. */
export type ResultPath = readonly (string | null)[];

export interface ResultChange {
  path: ResultPath;
  /** `gone`: no result has it any more. `missing`, `type`, `value`: some results may lack it, or have another type or value. */
  kind: "gone" | "missing" | "type" | "value";
  /** `orders[*].total is gone`. */
  text: string;
  /** What a result may have there now. Undefined if it may have nothing. */
  value: unknown;
  /** Whether no result can be as before. A null only says that one result lacks the value. */
  isCertain: boolean;
  /** Whether another part has most likely taken its place. */
  isRenamed?: true;
}

/** Where a schema is from: a server has declared it, or it is the shape of results that were seen. */
export type Known = "declared" | "seen";

/** The changes from one schema of a result to another. Both may be hostile. */
export function resultChanges(
  before: JsonObject,
  now: JsonObject,
  known: { before: Known; now: Known } = { before: "declared", now: "declared" },
): ResultChange[] {
  const comparison = new Comparison(before, now, known);
  comparison.compare(before, now, []);
  return comparison.changes;
}

/** The result as the change could make it. The same object if it has nothing there. */
export function withChange(result: unknown, { path, value }: Pick<ResultChange, "path" | "value">): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return value;
  const changed = (inner: unknown) => withChange(inner, { path: rest, value });
  if (key === null && Array.isArray(result)) {
    const items = result.map(changed);
    return items.some((item, at) => item !== result[at]) ? items : result;
  }
  if (!isObject(result)) return result;
  const keys = key === null ? Object.keys(result) : Object.hasOwn(result, key) ? [key] : [];
  const entries = keys.map((each) => [each, changed(result[each])] as const);
  if (entries.every(([each, inner]) => inner === result[each])) return result;
  const all = Object.entries({ ...result, ...Object.fromEntries(entries) });
  return Object.fromEntries(all.filter(([, inner]) => inner !== undefined));
}

class Comparison {
  readonly changes: ResultChange[] = [];
  readonly #before: JsonObject;
  readonly #now: JsonObject;
  /** Whether the old schema says what one result had, and nothing about others. */
  readonly #isOneResult: boolean;
  /** Whether the new schema says what one result has. */
  readonly #isSeen: boolean;
  #pairs = 0;

  constructor(before: JsonObject, now: JsonObject, known: { before: Known; now: Known }) {
    this.#before = before;
    this.#now = now;
    this.#isOneResult = known.before === "seen" && known.now === "declared";
    this.#isSeen = known.now === "seen";
  }

  compare(before: unknown, now: unknown, path: ResultPath): void {
    this.#pairs += 1;
    if (this.#pairs > maxComparedPairs || path.length > maxComparedDepth) return;
    const [old, current] = [formOf([before], this.#before), formOf([now], this.#now)];
    this.#compareTypes(old, current, now, path);
    this.#compareTexts(old, current, path);
    this.#compareProperties(old, current, path);
    if (old.items.length > 0 && current.items.length > 0)
      this.compare(oneOf(old.items), oneOf(current.items), [...path, null]);
    if (old.values.length > 0 && current.values.length > 0)
      this.compare(oneOf(old.values), oneOf(current.values), [...path, null]);
  }

  #add(change: Omit<ResultChange, "text">, says: string): void {
    if (this.changes.length >= maxFoundChanges) return;
    this.changes.push({ ...change, text: `${pathText(change.path)} ${says}` });
  }

  #compareTypes({ types: old }: Form, { types }: Form, now: unknown, path: ResultPath): void {
    if (!old || !types) return;
    const added = [...types].filter((type) => !old.has(type));
    const stays = [...types].some((type) => old.has(type));
    if (stays && this.#isOneResult) return;
    for (const type of added) {
      const value = type === "null" ? null : madeUpValue(restrictedTo(type, now), this.#now);
      const was = [...old].map(typeText).join(" or ");
      this.#add(
        { path, kind: "type", value, isCertain: !stays && !old.has("null") && type !== "null" },
        stays ? `may be ${typeText(type)} now; it was ${was}` : `is ${typeText(type)} now; it was ${was}`,
      );
    }
  }

  #compareTexts({ texts: old }: Form, { texts, types }: Form, path: ResultPath): void {
    if (!old || !types?.has("string") || this.#isOneResult) return;
    const added = texts ? texts.filter((each) => !old.includes(each)) : [];
    if (added[0] === undefined) return;
    const shown = added.slice(0, 3).map((each) => JSON.stringify(shownName(each)));
    this.#add({ path, kind: "value", value: added[0], isCertain: false }, `may be ${shown.join(" or ")} now`);
  }

  #compareProperties(old: Form, current: Form, path: ResultPath): void {
    // An object without a list of its properties is only described less exactly.
    if (current.properties.size === 0) return;
    const lacks = [...current.properties].some(([name, { isRequired }]) => isRequired && !old.properties.has(name));
    const isOther = !this.#isOneResult || current.isClosed || lacks;
    for (const [name, { schemas, isRequired }] of old.properties) {
      const now = current.properties.get(name);
      const at = [...path, name];
      if (now) {
        if (isRequired && !now.isRequired && !this.#isOneResult)
          this.#add({ path: at, kind: "missing", value: undefined, isCertain: false }, "may be missing now");
        this.compare(oneOf(schemas), oneOf(now.schemas), at);
      } else if (this.#isSeen && !isRequired && this.#renamed(schemas, old, current) === undefined) {
        this.#add({ path: at, kind: "missing", value: undefined, isCertain: false }, "was not there");
      } else if (current.values.length === 0 && isOther) {
        const other = this.#renamed(schemas, old, current);
        const says = other === undefined ? "is gone" : `is gone; it may be ${JSON.stringify(shownName(other))} now`;
        const change = { path: at, kind: "gone", value: undefined, isCertain: true } as const;
        this.#add(other === undefined ? change : { ...change, isRenamed: true }, says);
      }
    }
  }

  /** The only new property of the same types. */
  #renamed(schemas: unknown[], old: Form, current: Form): string | undefined {
    const typesOf = (all: unknown[], root: JsonObject) => [...(formOf(all, root).types ?? [])].sort().join(" ");
    const types = typesOf(schemas, this.#before);
    const found = [...current.properties].filter(
      ([name, each]) => !old.properties.has(name) && typesOf(each.schemas, this.#now) === types,
    );
    return found.length === 1 ? found[0]?.[0] : undefined;
  }
}

function oneOf(schemas: unknown[]): unknown {
  return schemas.length === 1 ? schemas[0] : { anyOf: schemas };
}

/** The part of a schema for values of one type. */
function restrictedTo(type: string, schema: unknown): JsonObject {
  return isObject(schema) && typesIn(schema)?.length === 1 ? schema : { type };
}

const typeTexts: Record<string, string> = {
  string: "a text",
  number: "a number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
};

function typeText(type: string): string {
  return typeTexts[type] ?? type;
}

/** `orders[*].customer.id`. The whole result has no name. */
function pathText(path: ResultPath): string {
  if (path.length === 0) return "the result";
  return path.reduce<string>((text, key) => {
    if (key === null) return `${text}[*]`;
    const name = shownName(key);
    if (!/^[A-Za-z_$][\w$-]*$/.test(name)) return `${text}[${JSON.stringify(name)}]`;
    return text === "" ? name : `${text}.${name}`;
  }, "");
}

/** Servers choose these names. */
function shownName(name: string): string {
  return oneLine(name, maxShownNameChars);
}
