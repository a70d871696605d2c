/**
 * The oracle: remembers every question about a call that a person was shown and every yes, and compares them with the calls that
 * reached the servers. A call that arrived without a yes to a question that showed exactly this call is a failure.
 */
import { closeSync, fstatSync, openSync, readSync } from "node:fs";

/** A gated call as a server has received it. */
interface Arrival {
  server: string;
  tool: string;
  id: string;
  /** Left out if they are large. */
  args?: object;
}

/** A question about a call. */
export interface Shown {
  server: string;
  tool: string;
  id: string;
  /** All arguments. Undefined if the question showed only a part of them. */
  args: unknown;
}

interface Yes extends Shown {
  isUsed: boolean;
}

/** Questions that a failure tells about. */
const maxTold = 30;

/** Characters of each of them. */
const maxChars = 300;

export class Oracle {
  readonly #file: string;
  #readTo = 0;
  #lastId = 0;
  readonly #yeses = new Map<string, Yes>();
  readonly #told: string[] = [];
  #failed: string[] = [];

  /** The servers append the calls that they receive to the file, as lines of JSON. */
  constructor(file: string) {
    this.#file = file;
    closeSync(openSync(file, "a"));
  }

  /** The id of a new gated call: its first and its last argument. */
  newId(): string {
    this.#lastId += 1;
    return `call${this.#lastId}`;
  }

  /** Notes a text that a person was shown, and the answer. A yes counts only if the text is the question of the policy. */
  answered(text: string, answer: unknown, isYes: boolean): void {
    this.#told.push(`${JSON.stringify(text.slice(0, maxChars))} → ${JSON.stringify(answer)}`);
    if (this.#told.length > maxTold) this.#told.shift();
    const shown = questionIn(text);
    if (isYes && shown) this.approved(shown);
  }

  approved(shown: Shown): void {
    this.#yeses.set(shown.id, { ...shown, isUsed: false });
  }

  /** Notes something else that is wrong. */
  failed(what: string): void {
    this.#failed.push(what);
  }

  /** Everything that is wrong since the last look, with the calls that have arrived. */
  failures(): string[] {
    const failed = this.#failed;
    this.#failed = [];
    return [...failed, ...this.#wrongArrivals()];
  }

  #wrongArrivals(): string[] {
    return this.#arrivals().flatMap((arrival) => {
      const why = this.#problemOf(arrival);
      if (why === undefined) return [];
      const { server, tool, id } = arrival;
      return [`${server}.${tool} ${id} arrived ${why}. Questions and answers before:\n  ${this.#told.join("\n  ")}`];
    });
  }

  #problemOf({ server, tool, id, args }: Arrival): string | undefined {
    const yes = this.#yeses.get(id);
    if (!yes) return "without a yes to a question that showed it";
    if (yes.server !== server || yes.tool !== tool) return `for a yes to ${yes.server}.${yes.tool}`;
    if (yes.isUsed) return "twice for one yes";
    yes.isUsed = true;
    const isOther = yes.args !== undefined && args !== undefined && !Bun.deepEquals(yes.args, args);
    return isOther ? "with other arguments than those that were shown" : undefined;
  }

  /** Only whole lines. */
  #arrivals(): Arrival[] {
    const file = openSync(this.#file, "r");
    try {
      const bytes = Buffer.alloc(fstatSync(file).size - this.#readTo);
      readSync(file, bytes, 0, bytes.length, this.#readTo);
      const whole = bytes.subarray(0, bytes.lastIndexOf("\n") + 1);
      this.#readTo += whole.length;
      return whole
        .toString()
        .split("\n")
        .slice(0, -1)
        .map((line) => JSON.parse(line));
    } finally {
      closeSync(file);
    }
  }
}

/** The call that a question of the policy shows. Undefined for every other text: questions of servers begin with the server's name. */
export function questionIn(text: string): Shown | undefined {
  const [, server, tool] = /^Allow the call to (\w+)\.([\w.]+)\?\n/.exec(text) ?? [];
  const id = /\b(call\d+)\b/.exec(text)?.[1];
  if (server === undefined || tool === undefined || id === undefined) return undefined;
  return { server, tool, id, args: / not shown/.test(text) ? undefined : argumentsIn(text) };
}

function argumentsIn(text: string): unknown {
  const [, json] = /\nIts arguments:\n\n([\s\S]*?)\n(?:\n|$)/.exec(text) ?? [];
  try {
    return json === undefined ? undefined : JSON.parse(json);
  } catch {
    return undefined; // Characters that are not shown as they are.
  }
}
