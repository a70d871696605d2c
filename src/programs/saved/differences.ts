/** How a saved program differs from what was saved under its name before. */
import { isDeepStrictEqual } from "node:util";
import { inputsOf, type SavedProgram } from "./model.ts";

export interface Differences {
  /** For people and agents: `month is new`, `may call demo.refund_order`. Empty if only the code differs. */
  changes: string[];
  isCodeChanged: boolean;
}

type Compared = Pick<SavedProgram, "code" | "input" | "calls">;

export function differencesOf(before: Compared, now: Compared): Differences {
  const [old, current] = [before, now].map((each) => new Map(inputsOf(each).map((input) => [input[0], input])));
  const inputs = [...new Set([...old!.keys(), ...current!.keys()])].flatMap((name) => {
    const [was, is] = [old!.get(name), current!.get(name)];
    if (!was) return [`${name} is new`];
    if (!is) return [`${name} was removed`];
    if (!isDeepStrictEqual(withoutExamples(was[1]), withoutExamples(is[1]))) return [`${name} has another type`];
    return was[2] === is[2] ? [] : [`${name} is ${is[2] ? "required" : "optional"} now`];
  });
  const added = now.calls.filter((id) => !before.calls.includes(id)).map((id) => `it may call ${id}`);
  const removed = before.calls.filter((id) => !now.calls.includes(id)).map((id) => `it may no longer call ${id}`);
  return { changes: [...inputs, ...added, ...removed], isCodeChanged: before.code !== now.code };
}

function withoutExamples({ examples: _, ...schema }: Record<string, unknown>) {
  return schema;
}

/** One sentence about the last change. Undefined for a first version. */
export function lastChange({ changes, savedAt }: SavedProgram): string | undefined {
  if (!changes) return undefined;
  const day = new Date(savedAt).toISOString().slice(0, 10);
  return `Changed on ${day}: ${changes.length === 0 ? "only its code" : changes.join("; ")}.`;
}
