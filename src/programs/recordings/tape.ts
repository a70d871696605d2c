/** Takes down the calls of an execution with their whole arguments and results, while it runs. */
import { ClaudikinsError } from "../../base/errors.ts";
import { megabyte } from "../../base/units.ts";
import type { Read } from "../../policy/flow/session-reads.ts";
import { textOf } from "../../sandbox/binding-value.ts";
import type { BindingValue, CallRequest } from "../../sandbox/contract.ts";
import type { ErrorShape } from "../../sandbox/messages.ts";
import type { Seed } from "../../sandbox/replay/contract.ts";
import type { ToolCallEvent } from "../tool-call-events.ts";
import { maxCallsInRecording, maxRecordingChars } from "./format.ts";

/** Characters of all arguments and results. JSON is longer in a recording, because it is indented. */
const maxTapeChars = maxRecordingChars - megabyte;

/** A call as it was made, with its answer. */
export interface TakenCall {
  server: string;
  /** `resources.read` for a function that a server has beside its tools. */
  tool: string;
  /** JSON. */
  args: string;
  /** Undefined if the call was not answered. */
  answer?: { value: BindingValue } | { error: ErrorShape } | undefined;
  /** When the answer came, in milliseconds since the start. */
  ms: number;
}

/** What an execution did, before it is made into a recording. */
export interface Taken {
  /** In milliseconds since 1970. */
  startsAt: number;
  seed: Seed;
  calls: TakenCall[];
  /** What the session of the program had read when it ended. */
  labels: readonly Read[];
}

export class CallTape implements Taken {
  readonly seed: Seed;
  readonly startsAt = Date.now();
  readonly calls: TakenCall[] = [];
  /** What the session of the program had read when it ended. */
  labels: Read[] = [];
  readonly #begunAt = performance.now();
  readonly #open = new Map<number, TakenCall>();
  /** Why the execution cannot be recorded, if so. */
  #problem: string | undefined;
  #chars = 0;

  constructor() {
    const [a = 0, b = 0, c = 0, d = 0] = crypto.getRandomValues(new Uint32Array(4));
    this.seed = [a, b, c, d];
  }

  readonly hear = (event: ToolCallEvent): void => {
    switch (event.type) {
      case "called":
        this.#called(event.call, event.request);
        break;
      case "returned":
        if (!("result" in event.value)) this.#answered(event.call, { value: event.value }, textOf(event.value));
        break;
      case "failed":
        this.#answered(event.call, { error: event.error }, event.error.message);
        break;
      case "restored":
        this.#problem = "it was continued after it had waited";
    }
  };

  /** Throws NOT_RECORDED if the execution cannot be recorded. */
  taken(): Taken {
    if (this.#problem === undefined) return this;
    throw new ClaudikinsError("NOT_RECORDED", `The execution cannot be recorded: ${this.#problem}`);
  }

  #called(call: number, request: CallRequest): void {
    const { args = "{}" } = request;
    const taken: TakenCall = { ...namesOf(request), args, ms: 0 };
    this.#count(args);
    if (this.#problem !== undefined) return;
    this.#open.set(call, taken);
    this.calls.push(taken);
    if (this.calls.length > maxCallsInRecording) this.#giveUp(`it made more than ${maxCallsInRecording} calls`);
  }

  #answered(call: number, answer: TakenCall["answer"], text: string): void {
    const taken = this.#open.get(call);
    this.#open.delete(call);
    this.#count(text);
    if (!taken || this.#problem !== undefined) return;
    taken.answer = answer;
    taken.ms = performance.now() - this.#begunAt;
  }

  #count(text: string): void {
    this.#chars += text.length;
    if (this.#chars > maxTapeChars) this.#giveUp("its arguments and results are too large");
  }

  #giveUp(problem: string): void {
    this.#problem ??= problem;
    this.calls.length = 0;
    this.#open.clear();
  }
}

/** The server and the tool, as a recording has them. */
export function namesOf({ namespace, group, name }: Pick<CallRequest, "namespace" | "group" | "name">) {
  return { server: namespace, tool: group === "tools" ? name : `${group}.${name}` };
}
