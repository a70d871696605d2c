/** The tool calls of one execution, kept in the worker for advice. */

import { textOf } from "./binding-value.ts";
import type { BindingValue } from "./contract.ts";
import type { CallMessage, ErrorShape, SettleMessage } from "./messages.ts";

/** Results of one tool that are kept for the advice: the first one and the last ones. */
const maxSeenResults = 4;

/** Longer results that are kept for the advice replace each other: only the last one is kept. */
const longResultChars = 1_000_000;

/** Characters of arguments, results and failures of calls that are saved with a program. */
const maxSavedCallChars = 262_144;

export interface SeenCalls {
  tool: string;
  calls: number;
  failures: number;
  /** Number of open calls. */
  open: number;
  /** Number of calls with the same arguments as the call before. */
  repeated: number;
  /** The first one and the last ones. */
  results: BindingValue[];
  /** The first one. */
  failure: ErrorShape | undefined;
}

const atStart = () => ({
  tools: new Map<string, SeenCalls & { args?: string }>(),
  open: new Map<number, { seen: SeenCalls; raw: boolean }>(),
});

export class CallsByTool {
  /** Plain data, so that it can be saved with a program that waits. */
  readonly state: ReturnType<typeof atStart>;

  constructor(state = atStart()) {
    this.state = state;
  }

  made(message: CallMessage): void {
    const { call, namespace, raw, args } = message;
    // Questions about the tools do not count as calls.
    if (namespace === "") return;
    const tool = calledId(message);
    const seen = this.state.tools.getOrInsertComputed(tool, () => {
      return { tool, calls: 0, failures: 0, open: 0, repeated: 0, results: [], failure: undefined };
    });
    seen.calls += 1;
    seen.open += 1;
    if (seen.args === args) seen.repeated += 1;
    seen.args = args;
    this.state.open.set(call, { seen, raw });
  }

  answered(message: SettleMessage): void {
    const { call } = message;
    const open = this.state.open.get(call);
    if (!open) return;
    this.state.open.delete(call);
    const { seen, raw } = open;
    seen.open -= 1;
    if ("error" in message) {
      seen.failures += 1;
      seen.failure ??= message.error;
    } else if (!raw) keep(seen.results, message);
  }

  /**
   * The values that are saved with a program for the advice, up to a limited size. Long texts are left out, because they would be written again
   * with every call.
   */
  get saved(): ReturnType<typeof atStart> {
    let room = maxSavedCallChars;
    const copies = new Map<SeenCalls, SeenCalls>();
    const fits = (text: string) => {
      if (text.length > room) return false;
      room -= text.length;
      return true;
    };
    const tools = new Map<string, SeenCalls & { args?: string }>();
    for (const [tool, { args, ...seen }] of this.state.tools) {
      const { failure, results } = seen;
      const copy = {
        ...seen,
        results: results.filter((each) => fits(textOf(each))),
        failure: failure && fits(failure.message) ? failure : failure && { ...failure, message: "", hint: undefined },
        ...(args !== undefined && fits(args) ? { args } : {}),
      };
      copies.set(this.state.tools.get(tool)!, copy);
      tools.set(tool, copy);
    }
    const open = [...this.state.open].map(
      ([call, { seen, raw }]) => [call, { seen: copies.get(seen) ?? seen, raw }] as const,
    );
    return { tools, open: new Map(open) };
  }

  get all(): SeenCalls[] {
    return [...this.state.tools.values()];
  }
}

/** `server.tool`, or `server.resources.list`. */
export function calledId({ namespace, group, name }: Pick<CallMessage, "namespace" | "group" | "name">): string {
  return group === "tools" ? `${namespace}.${name}` : `${namespace}.${group}.${name}`;
}

function keep(results: BindingValue[], value: BindingValue): void {
  const isLong = (each: BindingValue) => textOf(each).length > longResultChars;
  const place = isLong(value) ? results.findIndex(isLong) : -1;
  if (place !== -1) results.splice(place, 1);
  else if (results.length === maxSeenResults) results.splice(1, 1);
  results.push(value);
}
