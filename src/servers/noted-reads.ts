/** Notes what an agent reads from a server. */
import { messageOf } from "../base/errors.ts";
import type { JsonObject } from "../base/json-object.ts";
import type { Label } from "../config/policy.ts";
import type { Caller } from "../policy/flow/caller.ts";
import type { Read } from "../policy/flow/session-reads.ts";
import { objectJson } from "./decoding/large-json.ts";
import { hasServerText } from "./server-failure.ts";

/** What tools return, by their labels. The labels of a tool stay the same object while nothing changes. */
const known = new WeakMap<ReadonlySet<Label>, { source: string; reads: readonly Read[] }>();

function readsOf(labels: ReadonlySet<Label>, source: string): readonly Read[] {
  const found = known.get(labels);
  if (found?.source === source) return found.reads;
  const reads = [...labels].flatMap((label): Read[] => (label === "public" ? [] : [{ label, source }]));
  known.set(labels, { source, reads });
  return reads;
}

/** Notes what the caller reads, before it gets the answer or the error. Not async: each async function on the path of a call adds to its time. */
export function noteReads<T extends JsonObject | undefined>(
  answer: Promise<T>,
  { labels, source, caller }: { labels: ReadonlySet<Label>; source: string; caller: Caller },
): Promise<T> {
  const reads = readsOf(labels, source);
  if (reads.length === 0) return answer;
  const note = (text: () => string | undefined) => caller.reads.add(reads, text);
  return answer.then(
    (result) => (result && note(() => objectJson(result)))?.then(() => result) ?? result,
    async (error: unknown) => {
      if (hasServerText(error)) await note(() => messageOf(error));
      throw error;
    },
  );
}
