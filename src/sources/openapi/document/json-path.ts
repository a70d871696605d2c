/** Finds values with JSONPath (RFC 9535): names, places, slices, wildcards, descendants, and filters that compare fields. Functions are not supported. */
import { isObject, type JsonObject } from "../../../base/json-object.ts";
import { oneLine } from "../../../base/visible-text.ts";
import { invalid } from "./parse-document.ts";

/** Values that one path may find or look at. */
const maxVisitedValues = 5_000_000;

/** Characters of a path. */
const maxPathChars = 2_000;

/** Characters of a path in an error. */
const maxShownPathChars = 100;

export interface Found {
  value: unknown;
  parent: object;
  key: string | number;
}

type Test = (value: unknown) => boolean;

/** Chooses children of a value. */
type Selector =
  | { kind: "all" }
  | { kind: "name"; name: string }
  | { kind: "index"; index: number }
  | { kind: "slice"; from?: number; to?: number; step: number }
  | { kind: "filter"; test: Test };

interface Step {
  selectors: Selector[];
  isDeep: boolean;
}

/** Throws CONFIG_INVALID if the path cannot be read. */
export function select(path: string, root: unknown, top: Omit<Found, "value">): Found[] {
  const steps = new PathReader(path).steps();
  let found: Found[] = [{ value: root, ...top }];
  let left = maxVisitedValues;
  for (const { selectors, isDeep } of steps) {
    const next: Found[] = [];
    const seen = new Set<unknown>();
    const visit = (value: unknown) => {
      left -= 1;
      if (left < 0) throw invalid(`The path ${shown(path)} finds too much`);
      for (const selector of selectors) for (const each of childrenOf(value, selector)) next.push(each);
      if (!isDeep || typeof value !== "object" || value === null || seen.has(value)) return;
      seen.add(value);
      for (const each of Object.values(value)) if (typeof each === "object") visit(each);
    };
    for (const { value } of found) visit(value);
    found = next;
  }
  return found;
}

const shown = (path: string) => oneLine(path, maxShownPathChars);

function childrenOf(value: unknown, selector: Selector): Found[] {
  if (typeof value !== "object" || value === null) return [];
  const one = (key: string | number): Found[] =>
    Object.hasOwn(value, key) ? [{ value: (value as JsonObject)[key], parent: value, key }] : [];
  const keys = () => (Array.isArray(value) ? value.map((_, index) => index) : Object.keys(value));
  switch (selector.kind) {
    case "all":
      return keys().flatMap(one);
    case "name":
      return isObject(value) ? one(selector.name) : [];
    case "index":
      return Array.isArray(value) ? one(selector.index < 0 ? value.length + selector.index : selector.index) : [];
    case "slice":
      return Array.isArray(value) ? placesIn(value.length, selector).flatMap(one) : [];
    case "filter":
      return keys()
        .flatMap(one)
        .filter(({ value: child }) => selector.test(child));
  }
}

function placesIn(length: number, { from, to, step }: { from?: number; to?: number; step: number }): number[] {
  if (step <= 0) return [];
  const bounded = (place: number) => Math.max(0, Math.min(length, place < 0 ? length + place : place));
  const places: number[] = [];
  for (let at = bounded(from ?? 0); at < bounded(to ?? length); at += step) places.push(at);
  return places;
}

class PathReader {
  readonly #path: string;
  #at = 0;

  constructor(path: string) {
    this.#path = path;
    if (path.length > maxPathChars) throw invalid(`The path ${shown(path)} is too long`);
  }

  steps(): Step[] {
    this.#expect(/^\$/);
    return this.#stepsHere(true);
  }

  #stepsHere(isWhole: boolean): Step[] {
    const steps: Step[] = [];
    while (this.#at < this.#path.length) {
      const isDeep = this.#read(/^\.\./) !== undefined;
      if (this.#read(/^\s*\[/)) steps.push({ selectors: this.#brackets(), isDeep });
      else if (isDeep || this.#read(/^\./)) steps.push({ selectors: [this.#shorthand()], isDeep });
      else if (isWhole) throw this.#wrong();
      else break;
    }
    return steps;
  }

  #shorthand(): Selector {
    if (this.#read(/^\*/)) return { kind: "all" };
    return { kind: "name", name: this.#expect(/^[\p{L}\p{N}_$-]+/u) };
  }

  #brackets(): Selector[] {
    const selectors = [this.#selector()];
    while (this.#read(/^\s*,/)) selectors.push(this.#selector());
    this.#expect(/^\s*\]/);
    return selectors;
  }

  #selector(): Selector {
    this.#read(/^\s+/);
    if (this.#read(/^\*/)) return { kind: "all" };
    const name = this.#text();
    if (name !== undefined) return { kind: "name", name };
    if (this.#read(/^\?/)) return { kind: "filter", test: this.#either() };
    const slice = this.#read(/^(-?\d+)?\s*:\s*(-?\d+)?(?:\s*:\s*(-?\d+)?)?/);
    if (slice !== undefined) {
      const [from, to, step] = slice.split(":").map((each) => (each.trim() === "" ? undefined : Number(each)));
      return {
        kind: "slice",
        ...(from === undefined ? {} : { from }),
        ...(to === undefined ? {} : { to }),
        step: step ?? 1,
      };
    }
    return { kind: "index", index: Number(this.#expect(/^-?\d+/)) };
  }

  #text(): string | undefined {
    const quoted = this.#read(/^\s*(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")/)?.trim();
    return quoted?.slice(1, -1).replace(/\\(.)/g, "$1");
  }

  #either(): Test {
    const tests = [this.#every()];
    while (this.#read(/^\s*\|\|/)) tests.push(this.#every());
    return (value) => tests.some((test) => test(value));
  }

  #every(): Test {
    const tests = [this.#test()];
    while (this.#read(/^\s*&&/)) tests.push(this.#test());
    return (value) => tests.every((test) => test(value));
  }

  #test(): Test {
    if (this.#read(/^\s*!(?!=)/)) {
      const test = this.#test();
      return (value) => !test(value);
    }
    if (this.#read(/^\s*\(/)) {
      const test = this.#either();
      this.#expect(/^\s*\)/);
      return test;
    }
    const left = this.#operand();
    const operator = this.#read(/^\s*(?:==|!=|<=|>=|<|>)/)?.trim();
    if (operator === undefined) return (value) => left(value) !== undefined;
    const right = this.#operand();
    return (value) => compare(left(value), operator, right(value));
  }

  #operand(): (value: unknown) => unknown {
    if (this.#read(/^\s*@/)) {
      const steps = this.#stepsHere(false);
      return (value) =>
        steps.reduce<unknown>(
          (found, { selectors }) => (selectors[0] ? childrenOf(found, selectors[0])[0]?.value : undefined),
          value,
        );
    }
    const text = this.#text();
    if (text !== undefined) return () => text;
    const literal = JSON.parse(this.#expect(/^\s*(?:true|false|null|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)/)) as unknown;
    return () => literal;
  }

  #read(token: RegExp): string | undefined {
    const found = token.exec(this.#path.slice(this.#at));
    if (!found || found[0] === "") return undefined;
    this.#at += found[0].length;
    return found[0];
  }

  #expect(token: RegExp): string {
    const found = this.#read(token);
    if (found === undefined) throw this.#wrong();
    return found;
  }

  #wrong(): Error {
    return invalid(`The path ${shown(this.#path)} of the overlay cannot be read at character ${this.#at + 1}`);
  }
}

function compare(left: unknown, operator: string, right: unknown): boolean {
  if (operator === "==") return left === right;
  if (operator === "!=") return left !== right;
  const isOrdered =
    (typeof left === "number" && typeof right === "number") || (typeof left === "string" && typeof right === "string");
  if (!isOrdered) return false;
  if (operator === "<") return left < right;
  if (operator === ">") return left > right;
  return operator === "<=" ? left <= right : left >= right;
}
