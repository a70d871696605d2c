/** Asks the host for what the engine cannot compute; its errors are thrown as errors of this side. */
import { host } from "./host.ts";

const { parse, stringify } = JSON;
const kinds: Record<string, ErrorConstructor> = { __proto__: null as never, RangeError, TypeError, SyntaxError };

/** Arguments and answer cross as JSON. */
export function compute<T>(name: string, args: object): T {
  let answer: string;
  try {
    answer = host.compute(name, stringify(args));
  } catch (error) {
    const { name: kind = "", message } = error as Error;
    // What ends an execution from outside is no answer.
    if (kind === "InternalError") throw error;
    throw new (kinds[kind] ?? Error)(message);
  }
  return parse(answer) as T;
}
