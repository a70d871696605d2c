/** Limits the calls of one execution: their number, their size, and how many are open. */
import type { Limits } from "../contract.ts";
import {
  argumentsTooLarge,
  openArgumentsTooLarge,
  openCallsOf,
  tooManyCalls,
  tooManyKeys,
  tooManyQuestions,
  tooManyValues,
} from "../limit-errors.ts";
import { maxArgumentKeys, maxArgumentParts, maxToolQuestions, partsOfContainer } from "../limits.ts";
import type { CallMessage, ErrorShape } from "../messages.ts";

/** Arguments with fewer characters cannot have as many different keys, and are not searched for them. */
const minCharsOfManyKeys = 4 * maxArgumentKeys;

const atStart = () => ({
  waiting: [] as CallMessage[],
  /** Bytes of the arguments of open calls, which are kept outside the program's memory. */
  bytes: new Map<number, number>(),
  openBytes: 0,
  made: 0,
  asked: 0,
  running: 0,
});

export class CallGate {
  readonly #limits: Limits;
  readonly #send: (call: CallMessage) => void;
  /** Plain data, so that it can be saved with a program that waits. */
  readonly state: ReturnType<typeof atStart>;

  constructor(limits: Limits, send: (call: CallMessage) => void, state = atStart()) {
    this.#limits = limits;
    this.#send = send;
    this.state = state;
  }

  /** Makes the call, or lets it wait for its turn. Returns why it cannot be made, if so. */
  add(call: CallMessage): ErrorShape | undefined {
    // Questions about the tools are counted separately from calls.
    if (call.namespace === "") {
      if (++this.state.asked > maxToolQuestions) return tooManyQuestions();
    } else if (++this.state.made > this.#limits.calls) return tooManyCalls(this.#limits);
    const bytes = Buffer.byteLength(call.args);
    if (bytes > this.#limits.argumentBytes) {
      return argumentsTooLarge(`${call.namespace}.${call.name}`, bytes, this.#limits);
    }
    if (call.args.length > minCharsOfManyKeys && hasMoreKeys(call.args, maxArgumentKeys)) {
      return tooManyKeys(`${call.namespace}.${call.name}`);
    }
    // No part is shorter than half a character: a list of empty lists.
    if (2 * call.args.length > maxArgumentParts && hasMoreParts(call.args, maxArgumentParts)) {
      return tooManyValues(`${call.namespace}.${call.name}`);
    }
    const open = this.state.openBytes + bytes;
    if (open > openCallsOf(this.#limits)) return openArgumentsTooLarge(open, this.#limits);
    this.state.openBytes = open;
    this.state.bytes.set(call.call, bytes);
    if (this.state.running < this.#limits.callsInFlight) this.#start(call);
    else this.state.waiting.push(call);
    return undefined;
  }

  /** Call this with every answer, so that the next call can go. */
  answered(call: number): void {
    this.state.running -= 1;
    this.state.openBytes -= this.state.bytes.get(call) ?? 0;
    this.state.bytes.delete(call);
    const next = this.state.waiting.shift();
    if (next) this.#start(next);
  }

  /** The calls that were made and not answered yet. */
  get made(): number[] {
    const waiting = new Set(this.state.waiting.map(({ call }) => call));
    return [...this.state.bytes.keys()].filter((call) => !waiting.has(call));
  }

  /** Number of open calls. */
  get open(): number {
    return this.state.running + this.state.waiting.length;
  }

  #start(call: CallMessage): void {
    this.state.running += 1;
    this.#send(call);
  }
}

/**
 * Whether the objects in the text have more different keys than `most`: parsing takes far longer for many different keys than for anything
 * else of the same size. The text is valid JSON without spaces.
 */
function hasMoreKeys(json: string, most: number): boolean {
  const keys = new Set<string>();
  for (let at = json.indexOf('"'); at >= 0; ) {
    const end = endOfText(json, at + 1);
    if (json[end + 1] === ":" && keys.add(json.slice(at + 1, end)).size > most) return true;
    at = json.indexOf('"', end + 1);
  }
  return false;
}

const [quote, comma, openBracket, openBrace] = [34, 44, 91, 123];

/**
 * Whether the text has more parts than `most`: the main thread parses it, and the time depends on the number of values. A list or an object takes
 * as long as several other values. The text is valid JSON without spaces.
 */
function hasMoreParts(json: string, most: number): boolean {
  let parts = 0;
  for (let at = 0; at < json.length; at++) {
    const code = json.charCodeAt(at);
    if (code === comma) parts += 1;
    else if (code === openBracket || code === openBrace) parts += partsOfContainer;
    else if (code === quote) at = endOfText(json, at + 1);
    if (parts > most) return true;
  }
  return false;
}

/** The place of the quote that ends the text. */
function endOfText(json: string, from: number): number {
  for (let at = json.indexOf('"', from); ; at = json.indexOf('"', at + 1)) {
    if (at < 0) return json.length;
    let escapes = 0;
    while (json[at - 1 - escapes] === "\\") escapes += 1;
    if (escapes % 2 === 0) return at;
  }
}
