/** Handwritten records. */
import { newId } from "../../../src/programs/trace/id.ts";
import type { ExecutionRecord, RecordedCall } from "../../../src/programs/trace/record.ts";

/** A record of one call of half a second. */
export function recordOf(given: Partial<ExecutionRecord>): ExecutionRecord {
  const at = given.at ?? Date.now();
  const { timeline = [callOf({})] } = given;
  return {
    version: 1,
    id: newId(at),
    at,
    startedBy: "exec",
    config: null,
    ok: true,
    durationMs: 500,
    beforeMs: 12,
    calls: given.timeline?.length ?? 1,
    failures: 0,
    charsIn: 10_000,
    charsOut: 200,
    hasContents: false,
    receipt: "abcdef012345",
    code: { chars: 300, lines: 8 },
    timeline,
    tools: timeline.map(({ server, tool }) => ({ server, tool, calls: 1 })),
    moreCalls: 0,
    logs: { lines: 2, chars: 30 },
    ...given,
  };
}

export function callOf(given: Partial<RecordedCall>): RecordedCall {
  return {
    server: "shop",
    tool: "list_orders",
    line: 1,
    startMs: 10,
    endMs: 110,
    outcome: "ok",
    argumentChars: 20,
    resultChars: 10_000,
    ...given,
  };
}
