/** Asks the host to compute what the engine cannot. Errors of the host become errors of the guest. */
import { host } from "./host.ts";

const { parse, stringify } = JSON;
const kinds: Record<string, ErrorConstructor> = { __proto__: null as never, RangeError, TypeError, SyntaxError };

/** Arguments and answer are passed as JSON. */
export function compute<T>(name: string, args: object): T {
  let answer: string;
  try {
    answer = host.compute(name, stringify(args));
  } catch (error) {
    const { name: kind = "", message } = error as Error;
    // InternalError means that the host interrupted the execution. It must not be changed.
    if (kind === "InternalError") throw error;
    throw new (kinds[kind] ?? Error)(message);
  }
  return parse(answer) as T;
}
