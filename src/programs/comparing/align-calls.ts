/** Puts the calls of two executions side by side, in their order. */
import { diffArrays } from "diff";
import type { RecordedCall } from "../trace/record.ts";
import { toolOf } from "../trace/record-text.ts";

/** Time that the comparison takes at most, in milliseconds. After it, calls are paired by their places. */
const aligningMs = 50;

/** A call of both executions, or of one. */
export type CallPair =
  | [earlier: RecordedCall, later: RecordedCall]
  | [RecordedCall, undefined]
  | [undefined, RecordedCall];

/** Pairs equal calls first. Between them, calls of the same tool are pairs. */
export function alignedCalls(earlier: readonly RecordedCall[], later: readonly RecordedCall[]): CallPair[] {
  return aligned(earlier, later, callKey, (removed, added) =>
    aligned(removed, added, toolOf, (left, right) => [
      ...left.map((call): CallPair => [call, undefined]),
      ...right.map((call): CallPair => [undefined, call]),
    ]),
  );
}

/** The tool and its arguments, as far as they were recorded. */
function callKey(call: RecordedCall): string {
  return `${toolOf(call)}\n${call.argumentChars}\n${call.arguments?.text ?? ""}`;
}

/** `between` pairs the calls that stand between those with equal keys. */
function aligned(
  earlier: readonly RecordedCall[],
  later: readonly RecordedCall[],
  keyOf: (call: RecordedCall) => string,
  between: (earlier: readonly RecordedCall[], later: readonly RecordedCall[]) => CallPair[],
): CallPair[] {
  const numbers = new Map<string, number>();
  const numbersOf = (calls: readonly RecordedCall[]) =>
    calls.map((call) => numbers.getOrInsertComputed(keyOf(call), () => numbers.size));
  const parts = diffArrays(numbersOf(earlier), numbersOf(later), { timeout: aligningMs });
  if (!parts) return between(earlier, later);
  const pairs: CallPair[] = [];
  let [at, laterAt] = [0, 0];
  let [removed, added] = [[] as RecordedCall[], [] as RecordedCall[]];
  const pairRest = () => {
    pairs.push(...between(removed, added));
    [removed, added] = [[], []];
  };
  for (const { value, added: isAdded, removed: isRemoved } of parts) {
    if (isRemoved) removed.push(...earlier.slice(at, at + value.length));
    else if (isAdded) added.push(...later.slice(laterAt, laterAt + value.length));
    else {
      pairRest();
      for (const place of value.keys()) pairs.push([earlier[at + place]!, later[laterAt + place]!]);
    }
    if (!isAdded) at += value.length;
    if (!isRemoved) laterAt += value.length;
  }
  pairRest();
  return pairs;
}
