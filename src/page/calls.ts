/** The call log on the page: who called what, newest first, in pages. */
import { outcomesOf, outcomeWords, shownOutcomes } from "../programs/call-log/outcome-words.ts";
import type { CallFilter, CallPlace, StoredCall } from "../store/call-log.ts";
import type { Store } from "../store/store.ts";
import type { PageCalls, PageLoggedCall } from "./activity-contract.ts";
import { RefusedRequest } from "./guard.ts";

/** Calls of one page. */
const callsPageSize = 100;

/** Characters of one condition of a filter. */
const maxConditionChars = 500;

interface AskedCalls {
  filter: CallFilter;
  /** An id, an address or a name of a person, or an id of a token. */
  who: string | undefined;
  after: CallPlace | undefined;
}

/** Throws RefusedRequest for a filter that the page does not make. */
export function callsIn(search: URLSearchParams): AskedCalls {
  const condition = (name: string) => {
    const text = search.get(name) ?? undefined;
    if ((text?.length ?? 0) > maxConditionChars) throw new RefusedRequest(400, `The condition "${name}" is too long`);
    return text === "" ? undefined : text;
  };
  const [since, until, after] = [condition("since"), condition("until"), condition("after")];
  const [, at, id] = /^(\d{1,16}(?:\.\d{1,9})?)~([\w-]{1,60})$/.exec(after ?? "") ?? [];
  const areTimes = [since, until].every((time) => time === undefined || Number.isSafeInteger(Number(time)));
  const outcome = condition("outcome");
  const shown = shownOutcomes.find((each) => each === outcome);
  if ((after !== undefined && id === undefined) || !areTimes || (outcome !== undefined && !shown)) {
    throw new RefusedRequest(400, "The filter is not as expected");
  }
  return {
    filter: {
      server: condition("server"),
      tool: condition("tool"),
      door: condition("door"),
      execution: condition("execution"),
      since: since === undefined ? undefined : Number(since),
      until: until === undefined ? undefined : Number(until),
      outcomes: shown && outcomesOf(shown),
    },
    who: condition("who"),
    after: id === undefined ? undefined : { at: Number(at), id },
  };
}

/**
 * The calls that fit, among those of the config, and of one person if `own` names it. The executions of calls for which `isOpen` is false are left
 * out.
 */
export async function readCalls(
  { filter, who, after }: AskedCalls,
  own: Pick<CallFilter, "config" | "person">,
  { callLog, people }: Pick<Store, "callLog" | "people">,
  isOpen: (call: StoredCall) => boolean = () => true,
): Promise<PageCalls> {
  const chosen = who === undefined ? undefined : await callersNamed(who, people);
  const read = await callLog.read(
    { ...filter, who: chosen, ...own },
    { order: "newest first", limit: callsPageSize + 1, after },
  );
  const page = read.slice(0, callsPageSize);
  const last = read.length > page.length ? page.at(-1) : undefined;
  const calls = page.map((call) => (isOpen(call) ? shown(call) : { ...shown(call), execution: undefined }));
  return { calls, next: last && `${last.at}~${last.id}` };
}

/** Everything by which the log may know a person or a token. The log outlives both, so the word itself may be an id. */
export async function callersNamed(word: string, people: Store["people"]): Promise<string[]> {
  const named = (await people.list()).filter(({ name, email, subject }) => [name, email, subject].includes(word));
  return [word, ...named.map(({ id }) => id)];
}

function shown(call: StoredCall): PageLoggedCall {
  const { id, at, server, tool, outcome, code, execution, program, door, agent, startedBy, token } = call;
  return {
    id,
    at,
    server,
    tool,
    outcome: outcomeWords[outcome],
    code: code ?? undefined,
    by: agent ?? startedBy,
    person: call.personName ?? call.person ?? (token === null ? undefined : `token ${token}`),
    door: door ?? undefined,
    program: program ?? undefined,
    execution: execution ?? undefined,
    durationMs: call.durationMs,
    waitedMs: call.waitedMs,
    resultBytes: call.resultBytes,
    approval: call.approval ?? undefined,
    labels: call.labels ?? undefined,
  };
}
