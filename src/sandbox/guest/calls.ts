/** Calls of host functions. Each call has a number and a promise in the guest. Its answer arrives as text. */
import { blocksOf } from "./blocks.ts";
import { reportFailure, watch } from "./floating.ts";
import { host } from "./host.ts";
import { answerKind, type CallKind } from "./kinds.ts";

const { parse, stringify } = JSON;
const SyntaxErrorOfEngine = SyntaxError;

interface Pending {
  resolve(value: unknown): void;
  reject(error: unknown): void;
  /** The stack of the call. Its failure is shown there, because no code of the program is running when the answer arrives. */
  stack: string;
}

const pending = new Map<number, Pending>();
let lastCall = 0;

/** The error of a tool that failed or could not be called. `code` names the problem, and `hint` the next step. */
export class ToolError extends Error {
  override name = "ToolError";
  code: string;
  declare hint?: string;
  /** What the server sent with its error. */
  declare data?: unknown;
  constructor(shape: { message: string; code?: string; hint?: string; data?: string }) {
    super(shape.message);
    this.code = shape.code ?? "TOOL_FAILED";
    if (shape.hint !== undefined) this.hint = shape.hint;
    if (shape.data !== undefined) this.data = parse(shape.data);
  }
}

/** Returns whether the program has called a host function. */
export function hasCalled(): boolean {
  return lastCall > 0;
}

/** A function of the host. It is described once, and every call uses the description. */
export interface Target {
  /** `server.tool`, for errors. */
  id: string;
  /** As the host reads it. */
  json: string;
}

export function targetOf(namespace: string, name: string, kind: CallKind): Target {
  return { id: `${namespace}.${name}`, json: stringify([namespace, name, kind]) };
}

/** Starts a call immediately. The promise settles with its answer. */
export function call(target: Target, args: unknown): Promise<unknown> {
  const id = ++lastCall;
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  try {
    const json = argumentsJson(target.id, args);
    const stack = String(new Error().stack);
    // One text instead of five values takes 2 µs less. JSON has no line breaks.
    const refused = host.call(id, `${target.json}\n${json}\n${stack}`);
    if (refused !== undefined) throw new ToolError(parse(refused));
    pending.set(id, { resolve, reject, stack });
  } catch (error) {
    reject(error);
  }
  return noticed(promise, target.id);
}

/** Returns the arguments as JSON. Absent arguments mean none, and only a plain object has named arguments. */
function argumentsJson(tool: string, args: unknown): string {
  const given = args ?? {};
  const invalid = (why: string) => new ToolError({ code: "INVALID_ARGUMENTS", message: `${tool}${why}` });
  if (typeof given !== "object" || Array.isArray(given)) {
    const found = Array.isArray(given) ? "an array" : `a ${typeof given}`;
    throw invalid(` takes one object with named arguments, got ${found}`);
  }
  try {
    try {
      return stringify(given) ?? "{}";
    } catch (error) {
      const json = error instanceof TypeError ? withBigints(given) : undefined;
      if (json === undefined) throw error;
      return json;
    }
  } catch (error) {
    // A limit of the engine was reached.
    if (error instanceof Error && error.name === "InternalError") throw error;
    throw invalid(`: the arguments are not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Begins texts that stand for bigints while the arguments are written. */
const bigintMark = "\0bigint ";

/** The JSON of a value, in which a bigint is a number with all of its digits. Undefined if there is none. */
function withBigints(value: unknown): string | undefined {
  let hasBigint = false;
  const json = stringify(value, (_, each) => {
    if (typeof each !== "bigint") return each;
    hasBigint = true;
    return `${bigintMark}${each}`;
  });
  return hasBigint ? json.replace(/"\\u0000bigint (-?\d+)"/g, "$1") : undefined;
}

/**
 * Makes a promise that is tracked until the program uses it: `await`, `then` and the Promise combinators read its `constructor`. A
 * promise that was not used when the program ends is floating: it is awaited, and its failure is reported.
 */
export function noticed(promise: Promise<unknown>, tool: string): Promise<unknown> {
  unseen.add(promise);
  return Object.setPrototypeOf(promise, prototypeFor(tool));
}

function seen(this: Promise<unknown>): PromiseConstructor {
  unseen.delete(this);
  return Promise;
}

/** Properties that were read from promises of tools and that promises do not have. They mean that an `await` is missing. */
export const unawaited: { tool: string; key: string }[] = [];

const prototypes = new Map<string, object>();
const asked = new Set(["toJSON", "inspect", "nodeType", "asymmetricMatch", "$$typeof", "length", "size"]);

/** Returns the prototype of promises of a tool. It notices reads of properties that promises do not have; awaiting reads none. */
function prototypeFor(tool: string): object {
  const known = prototypes.get(tool);
  if (known) return known;
  const noticing: object = new Proxy(Object.create(Promise.prototype), {
    get(target, key, receiver) {
      const isOdd = typeof key === "string" && !(key in target) && !asked.has(key);
      if (isOdd && unawaited.length < 5) unawaited.push({ tool, key });
      return Reflect.get(target, key, receiver);
    },
  });
  // A property of each promise would take 1 µs more.
  const prototype: object = Object.create(noticing, { constructor: { configurable: true, get: seen } });
  prototypes.set(tool, prototype);
  return prototype;
}

const unseen = new Set<Promise<unknown>>();

/** Watches every call whose promise has not been used. */
export function watchUnseen(): void {
  for (const promise of unseen) {
    Object.defineProperty(promise, "constructor", { value: Promise });
    watch(promise);
  }
  unseen.clear();
}

export function settle(id: number, kind: number, payload: string): void {
  const waiting = pending.get(id);
  if (!waiting) return;
  pending.delete(id);
  try {
    if (kind === answerKind.text) waiting.resolve(payload);
    else if (kind === answerKind.json) waiting.resolve(parse(payload));
    else if (kind === answerKind.jsonOrText) waiting.resolve(jsonOrText(payload));
    else if (kind === answerKind.blocks) waiting.resolve(blocksOf(parse(payload)));
    else waiting.reject(Object.assign(new ToolError(parse(payload)), { stack: waiting.stack }));
  } catch (error) {
    waiting.reject(error);
    reportFailure(error);
  }
}

/** Returns the value of JSON text, and any other text unchanged. Throws if the JSON is nested too deeply to be parsed. */
function jsonOrText(text: string): unknown {
  try {
    return parse(text);
  } catch (error) {
    if (error instanceof SyntaxErrorOfEngine && error.message !== "stack overflow") return text;
    throw error;
  }
}

export function hasPendingCalls(): boolean {
  return pending.size > 0;
}
