/** Shows two executions side by side on the page, and which ones an execution can be compared with. */
import { choicesFor, usualChoice } from "../programs/comparing/choices.ts";
import { compared, tellingCalls } from "../programs/comparing/compare.ts";
import type { ComparedCall, ComparedSide } from "../programs/comparing/comparison.ts";
import type { ComparedExecution } from "../programs/comparing/contents.ts";
import { joined } from "../programs/execution/listed-executions.ts";
import { isId } from "../programs/trace/id.ts";
import type { RecordedCall, Summary } from "../programs/trace/record.ts";
import type { Store } from "../store/store.ts";
import { maxShownCalls, shownCall } from "./activity.ts";
import type {
  PageComparable,
  PageCompared,
  PageComparedCall,
  PageComparison,
  PageExecution,
} from "./activity-contract.ts";
import type { ExecutionsReader } from "./executions.ts";
import { RefusedRequest } from "./guard.ts";

/** The execution that another one is to be compared with. Throws RefusedRequest. */
export function comparedIn(search: URLSearchParams, id: string): string {
  const other = search.get("with") ?? "";
  if (isId(other) && other !== id) return other;
  throw new RefusedRequest(400, "The other execution is not named");
}

export async function comparablesOf(
  record: Summary,
  store: Store,
  executions: ExecutionsReader,
): Promise<PageComparable[]> {
  const choices = await choicesFor(record, store);
  const usual = usualChoice(record, choices);
  return choices.map(({ relation, summary }) => {
    const { id, title, stateText, kind, isDryRun, startedAt } = shown(summary, executions);
    return { id, title, stateText, kind, isDryRun, startedAt, relation, isUsual: summary.id === usual?.summary.id };
  });
}

export function comparisonOf(
  one: ComparedExecution,
  other: ComparedExecution,
  executions: ExecutionsReader,
): PageComparison {
  const { earlier, later, differs, calls, moreCalls, code, value, logs } = compared(one, other);
  const telling = tellingCalls(calls, maxShownCalls);
  const sideOf = ({ id, failure, charsIn, charsOut, hasContents }: ComparedSide): PageCompared => {
    const { record } = [one, other].find((each) => each.record.id === id)!;
    return { ...shown(record, executions), failure, charsIn, charsOut, hasContents };
  };
  return {
    earlier: sideOf(earlier),
    later: sideOf(later),
    differs,
    calls: telling.map(pairOf),
    moreCalls: moreCalls + calls.length - telling.length,
    code,
    value,
    logs,
  };
}

function pairOf({ change, differs, earlier, later }: ComparedCall): PageComparedCall {
  const call = (each: RecordedCall | undefined) => each && shownCall(each);
  return { change, differs, earlier: call(earlier), later: call(later) };
}

function shown(summary: Summary, executions: ExecutionsReader): PageExecution {
  return executions.shown(joined([], [summary])[0]!, []);
}
