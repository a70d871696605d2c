/** Finds out from the call log how a change of tools would have treated the calls of the last days. */
import { counted } from "../../base/counted.ts";
import { eventLoopTurn } from "../../base/event-loop.ts";
import { about, list, number, record, text, type ValueOf } from "../../base/json-shape.ts";
import { dayMs } from "../../base/units.ts";
import { matches } from "../../config/pattern.ts";
import type { ToolState } from "../../policy/decision.ts";
import { type CallLogRows, eachCall, maxCallsReadAtOnce, type StoredCall } from "../../store/call-log.ts";
import { toolId } from "../../tools/model.ts";
import { starterTexts } from "./figures.ts";

/** Days of the call log that are looked at. */
export const impactDays = 7;

/** Agents and programs that are named. */
const maxNamedCallers = 5;

export const impactKeys = {
  calls: number,
  denied: number,
  asked: number,
  made: number,
  waiting: about("Calls that wait for a person now, and that a denial would end", number),
  by: list(record({ name: text, calls: number })),
  text,
};
const impactShape = record(impactKeys);
/**
 * `calls` is the number of calls of the tools. Of these, `denied` would now be denied, a person would now be asked about `asked`, and `made`
 * would be made without a question or a denial. `by` has the agents and programs of the changed ones, the most calls first.
 */
export type Impact = ValueOf<typeof impactShape>;

interface ImpactOptions {
  /** The config file of the calls, or null for the demo. Undefined: the calls of all configs. */
  config: string | null | undefined;
  /** Whether a call that a rule has denied stays denied. */
  keepsDenials?: boolean;
  /** Calls that wait for approval. */
  open: readonly { config: string | null; server: string; tool: string }[];
  now?: number;
}

/**
 * `tools` has own names and patterns; without a tool, all of the server are meant. Conditions of rules are not judged, because the log has no
 * arguments.
 */
export async function impactOf(
  tools: readonly { server: string; tool?: string }[],
  state: ToolState,
  rows: Pick<CallLogRows, "read">,
  { config, keepsDenials = false, open, now = Date.now() }: ImpactOptions,
): Promise<Impact> {
  const isPattern = ({ tool }: { tool?: string }) => tool === undefined || tool.includes("*");
  const patterns = tools.filter(isPattern);
  const ids = new Set(tools.filter((each) => !isPattern(each)).map(({ server, tool = "" }) => toolId(server, tool)));
  const isMeant = (call: Pick<StoredCall, "server" | "tool">) =>
    ids.has(toolId(call.server, call.tool)) ||
    patterns.some(({ server, tool = "*" }) => server === call.server && matches(tool, call.tool));
  const servers = new Set(tools.map(({ server }) => server));
  const [only] = ids.size === 1 && patterns.length === 0 ? ids : [];
  const [server] = servers.size === 1 ? servers : [];
  const filter = { since: now - impactDays * dayMs, config: config ?? undefined, server, tool: only };
  const found = { calls: 0, denied: 0, asked: 0, made: 0 };
  const callers = new Map<string, number>();
  let read = 0;
  for await (const call of eachCall(rows, filter, "oldest first")) {
    if (++read % maxCallsReadAtOnce === 0) await eventLoopTurn();
    if ((config !== undefined && call.config !== config) || !isMeant(call)) continue;
    found.calls += 1;
    const effect = keepsDenials && isDenied(call) ? undefined : effectOn(call, state);
    if (effect === undefined) continue;
    found[effect] += 1;
    const name = call.program === null ? (call.agent ?? starterTexts[call.startedBy]) : `the program ${call.program}`;
    callers.set(name, (callers.get(name) ?? 0) + 1);
  }
  const by = [...callers]
    .map(([name, calls]) => ({ name, calls }))
    .sort((one, other) => other.calls - one.calls || (one.name < other.name ? -1 : 1));
  const isHere = (each: { config: string | null }) => config === undefined || each.config === config;
  const waiting = state === "deny" ? open.filter((each) => isHere(each) && isMeant(each)).length : 0;
  const texts = [impactText({ ...found, by }), ...(waiting > 0 ? [waitingText(waiting)] : [])];
  return { ...found, waiting, by: by.slice(0, maxNamedCallers), text: texts.join(". ") };
}

function waitingText(waiting: number): string {
  return `${counted(waiting, "call")} that ${waiting === 1 ? "waits" : "wait"} for approval would end with an error`;
}

/** Whether a rule has denied the call, and no person. */
const isDenied = ({ outcome, approval }: StoredCall) => outcome === "denied" && approval === null;

/** What the state would change for the call. Undefined if it would have gone the same way. */
function effectOn(call: StoredCall, state: ToolState): "denied" | "asked" | "made" | undefined {
  const wasAsked = call.approval !== null;
  if (state === "deny") return call.outcome === "denied" ? undefined : "denied";
  if (state === "ask") return wasAsked ? undefined : "asked";
  return wasAsked || isDenied(call) ? "made" : undefined;
}

function impactText({ calls, denied, asked, made, by }: Omit<Impact, "text" | "waiting">): string {
  const days = `the last ${impactDays} days`;
  if (calls === 0) return `No call in ${days}`;
  const changed = denied + asked + made;
  if (changed === 0) return `${counted(calls, "call")} in ${days}: the change would have made no difference`;
  const how =
    denied > 0
      ? "would have been denied"
      : asked > 0
        ? "would have waited for a person"
        : "would have been made without a question";
  const callers = by.slice(0, maxNamedCallers).map(({ name, calls }) => `${name} ${calls}`);
  const others = by.length > maxNamedCallers ? [`${by.length - maxNamedCallers} more`] : [];
  return `${changed} of ${counted(calls, "call")} in ${days} ${how}: ${[...callers, ...others].join(", ")}`;
}
