/** Describes records in words, for the terminal and the page. */

import { counted, grouped } from "../../base/counted.ts";
import { durationText } from "../../base/duration.ts";
import type { FailureReason } from "../../sandbox/contract.ts";
import { mostAtOnce } from "./overlap.ts";
import type { ExecutionRecord, RecordedCall, Summary } from "./record.ts";

const reasonTexts: Record<string, string> = {
  threw: "failed",
  check: "refused",
  timeout: "timed out",
  cpu: "out of CPU time",
  memory: "out of memory",
  stack: "stack overflow",
};

/** `ok`, or the reason in a few words. A dry run says that it is one. */
export function outcomeWord({ ok, reason = "threw", dryRun }: Pick<Summary, "ok" | "reason" | "dryRun">): string {
  return `${dryRun ? "dry run, " : ""}${ok ? "ok" : (reasonTexts[reason] ?? reason)}`;
}

const failureSentences: Partial<Record<FailureReason, string>> = {
  check: "The code was refused before it ran",
  timeout: "The code did not end in time",
  cpu: "The code used up its CPU time",
  memory: "The code used up its memory",
  stack: "The code used up its stack",
  cancelled: "The execution was cancelled",
  crashed: "The worker of the code crashed",
};

/** The failure as a sentence, without the message if contents were not recorded. */
export function failureOf({ reason = "threw", error }: ExecutionRecord): string {
  const { name, message, code } = error ?? {};
  if (message !== undefined) return `${name}: ${message}`;
  return failureSentences[reason] ?? code ?? "The code failed";
}

/** The time that a call took, without the time in which a person was asked. In milliseconds. */
export function tookMs({ startMs, endMs, waitedMs = 0 }: Pick<RecordedCall, "startMs" | "endMs" | "waitedMs">): number {
  return Math.max(0, endMs - startMs - waitedMs);
}

/** `7 calls, 1 failed, 5 at once`. */
export function callsText({ calls, failures, timeline }: ExecutionRecord): string {
  const most = mostAtOnce(timeline);
  return [
    counted(calls, "call"),
    ...(failures > 0 ? [`${grouped(failures)} failed`] : []),
    ...(most > 1 ? [`${grouped(most)} at once`] : []),
  ].join(", ");
}

/** Lines about calls that are not shown individually. */
export function leftText(left: readonly RecordedCall[], moreCalls: number): string[] {
  const sum = left.reduce((total, call) => total + tookMs(call), 0);
  return [
    ...(left.length > 0
      ? [`${counted(left.length, "more call")} that took less time: ${durationText(sum)} in total`]
      : []),
    ...(moreCalls > 0
      ? [`${grouped(moreCalls)} later ${moreCalls === 1 ? "call was" : "calls were"} not recorded individually`]
      : []),
  ];
}

/** `MCP 2025-11-25: demo, files · MCP 2026-07-28: docs, the agent codex 1.2`. Empty if no revision is known. */
export function protocolsText({ host, protocols = {} }: ExecutionRecord): string {
  const agent = ["the agent", host?.name, host?.version].filter(Boolean).join(" ");
  const all = [...Object.entries(protocols), ...(host?.protocol ? [[agent, host.protocol] as const] : [])];
  return [...Map.groupBy(all, ([, protocol]) => protocol)]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([protocol, speakers]) => `MCP ${protocol}: ${speakers.map(([name]) => name).join(", ")}`)
    .join(" · ");
}

/** `demo.list_orders`. */
export function toolOf({ server, tool }: Pick<RecordedCall, "server" | "tool">): string {
  return `${server}.${tool}`;
}

/** The config's file and folder. Folders above it are private to the user. */
export function configText(config: string | null): string {
  return config === null ? "the demo" : config.split(/[\\/]/).slice(-2).join("/");
}

/** `2026-11-21 12:17:33 UTC`. */
export function timeText(at: number): string {
  return `${new Date(at).toISOString().slice(0, 19).replace("T", " ")} UTC`;
}
