/**
 * Runs a program with the calls of a recording, without any server. The program is told of one answer at a time, whenever it can do nothing
 * else: each replay therefore takes the same way.
 */
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ClaudikinsError } from "../../base/errors.ts";
import { parseExact } from "../../base/exact-json.ts";
import type { JsonObject } from "../../base/json-object.ts";
import { defaultLimits } from "../../config/defaults.ts";
import type { BindingCall, Bindings, BindingValue, CallPosition, Outcome } from "../../sandbox/contract.ts";
import type { ErrorShape } from "../../sandbox/messages.ts";
import type { ReplayOptions, Seed, WaitingProgram } from "../../sandbox/replay/contract.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import { toIdentifier } from "../../tools/names.ts";
import { limitsFrom } from "../execute.ts";
import { calledName } from "./format.ts";
import { namesOf } from "./tape.ts";

/** A call that can be answered. */
export interface AnswerableCall {
  server: string;
  tool: string;
  /** Undefined if the call was never answered. */
  answer: { value: BindingValue } | { error: ErrorShape } | undefined;
  /** Its place among the answers. */
  order: number;
  /** When the answer comes, in milliseconds since the start. */
  ms: number;
}

/** A call that the program has made. */
export interface MadeCall<Known extends AnswerableCall> {
  server: string;
  tool: string;
  args: JsonObject;
  raw: boolean;
  /** The line of the code, if it is known. */
  line: number | undefined;
  /** The call of the recording that it is. Undefined if the recording has none. */
  known: Known | undefined;
  /** Whether the arguments are those of the recording. */
  isExact: boolean;
  /** Answers that had come when it was sent. */
  after: number;
  /** Its place among the answers, counting from 1. Undefined if it was not answered. */
  answered: number | undefined;
  ms: number;
}

interface Pending<Known extends AnswerableCall> {
  made: MadeCall<Known>;
  number: number;
  answer: PromiseWithResolvers<BindingValue>;
  /** Whether it was looked for in the recording. */
  isSought: boolean;
}

export interface ReplayWith<Known extends AnswerableCall> {
  startsAt: number;
  seed: Seed;
  /** The names of the called servers, with their names in code. */
  servers: readonly { name: string; jsName: string | undefined }[];
  calls: readonly Known[];
  /** Whether a call with these arguments is this one. */
  isSame: (known: Known, args: JsonObject) => boolean;
  /** Throws POLICY_DENIED for a call that the program may not make. */
  permit?: ((call: BindingCall, tool: string | undefined) => void) | undefined;
}

export class Replay<Known extends AnswerableCall> {
  /** In the order in which the program made them. */
  readonly made: MadeCall<Known>[] = [];
  /** Calls of the recording that the program has not made. */
  readonly left: Set<Known>;
  readonly #with: ReplayWith<Known>;
  #pending: Pending<Known>[] = [];
  #waiting: WaitingProgram | undefined;
  #answers = 0;
  /** What the clock of the program shows, in milliseconds since the start. */
  #ms = 0;

  constructor(given: ReplayWith<Known>) {
    this.#with = given;
    this.left = new Set(given.calls);
  }

  /** Runs the program. Everything that it does is an outcome. */
  async run(source: string, sandbox: Sandbox, signal?: AbortSignal): Promise<Outcome> {
    const { seed } = this.#with;
    // The folder is never made, and looks empty: what the program writes goes to the scratch folder, which few programs need.
    const folder = join(tmpdir(), `claudikins-replay-${crypto.randomUUID()}`);
    const mounts = { workspace: folder, registry: folder, scratch: `${folder}.scratch` };
    try {
      const limits = limitsFrom(defaultLimits);
      const options = { bindings: this.#bindings, limits, mounts, check: "off", seed, replay: this.#options } as const;
      return await sandbox.run(source, { ...options, signal });
    } finally {
      if (existsSync(mounts.scratch)) await rm(mounts.scratch, { recursive: true, force: true });
    }
  }

  get #options(): ReplayOptions {
    const { startsAt } = this.#with;
    return {
      startsAt,
      onWait: (program) => {
        this.#waiting = program;
        this.#continue();
      },
      answeredAt: () => startsAt + this.#ms,
    };
  }

  get #bindings(): Bindings {
    return {
      namespaces: this.#with.servers.map(({ name, jsName }) => ({ name, jsName, functions: "any" })),
      call: (call, { made }) => this.#call(call, made),
    };
  }

  #call(call: BindingCall, { call: number = 0, line }: Partial<CallPosition> = {}): Promise<BindingValue> {
    const { server, tool } = namesOf(call);
    const known = this.#with.calls.find((each) => isCalled(each, { server, tool }));
    this.#with.permit?.(call, known?.tool);
    const args = parseExact(call.argsJson ?? JSON.stringify(call.args)) as JsonObject;
    const about = { server, tool: known?.tool ?? tool, args, raw: call.raw, line };
    const made = { ...about, known: undefined, isExact: false };
    const answer = Promise.withResolvers<BindingValue>();
    const sent = { ...made, after: this.#answers, answered: undefined, ms: 0 };
    this.#pending.push({ made: sent, number, answer, isSought: false });
    this.#continue();
    return answer.promise;
  }

  /** Gives the program its next answer, or lets its next timer fire, once it waits and all its calls are here. */
  #continue(): void {
    const waiting = this.#waiting;
    if (!waiting || this.#pending.length < waiting.open) return;
    this.#waiting = undefined;
    this.#recognise();
    const next = this.#pending.reduce((first, each) => (orderOf(each) < orderOf(first) ? each : first));
    const ms = Math.max(this.#ms, next.made.known?.ms ?? this.#ms);
    const timerMs = (waiting.wakeAt ?? Number.POSITIVE_INFINITY) - this.#with.startsAt;
    const isNeverAnswered = next.made.known !== undefined && next.made.known.answer === undefined;
    if (timerMs <= ms || (isNeverAnswered && waiting.wakeAt !== undefined)) {
      this.#ms = Math.max(this.#ms, timerMs);
      waiting.wake();
      return;
    }
    this.#ms = ms;
    this.#answers += 1;
    this.#pending = this.#pending.filter((each) => each !== next);
    Object.assign(next.made, { answered: this.#answers, ms });
    const { answer } = next.made.known ?? {};
    if (answer && "value" in answer) next.answer.resolve(answer.value);
    else next.answer.reject(answer ? Object.assign(new Error(), answer.error) : notRecorded(next.made));
  }

  /** Finds the calls of the recording: first those with the same arguments, so that no other call takes their place. */
  #recognise(): void {
    const fresh = this.#pending.filter(({ isSought }) => !isSought).sort((one, other) => one.number - other.number);
    for (const isExact of [true, false]) {
      for (const { made } of fresh) {
        if (made.known) continue;
        const fits = (each: Known) => isCalled(each, made) && (!isExact || this.#with.isSame(each, made.args));
        const known = this.left.values().find(fits);
        if (!known) continue;
        this.left.delete(known);
        Object.assign(made, { known, isExact });
      }
    }
    for (const each of fresh) {
      each.isSought = true;
      this.made.push(each.made);
    }
  }
}

function orderOf<Known extends AnswerableCall>({ made }: Pending<Known>): number {
  return made.known?.order ?? -1;
}

function isCalled(known: Pick<AnswerableCall, "server" | "tool">, { server, tool }: { server: string; tool: string }) {
  return known.server === server && (known.tool === tool || toIdentifier(known.tool) === tool);
}

function notRecorded(call: { server: string; tool: string }): ClaudikinsError {
  return new ClaudikinsError("NOT_RECORDED", `The recording has no further call of ${calledName(call)}`);
}
