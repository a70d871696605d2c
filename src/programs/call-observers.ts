/** Everybody who looks at calls of tools. The receipt of a program is the sandbox's own. */
import { tellAll } from "../sandbox/call-events.ts";
import type { ExecutionCheckpointer } from "./execution/checkpointer.ts";
import type { TraceRecording } from "./execution/recording.ts";
import { callCounter } from "./ledger/call-counter.ts";
import type { Parts } from "./parts.ts";
import { progressLines, type Tell } from "./progress-text.ts";
import type { CallSpans } from "./telemetry.ts";
import type { ToolCallListener } from "./tool-call-events.ts";

interface Observers {
  parts: Parts;
  /** Whether an agent runs the program: without it, the results would have gone into its model's context. */
  isForAgent?: boolean | undefined;
  recording?: TraceRecording | undefined;
  spans?: CallSpans | undefined;
  checkpointer?: ExecutionCheckpointer | undefined;
  tell?: Tell | undefined;
}

/** Another observer is another line. */
export function observersOf({
  parts,
  isForAgent = false,
  recording,
  spans,
  checkpointer,
  tell,
}: Observers): ToolCallListener {
  const all: (ToolCallListener | undefined)[] = [
    recording?.hear,
    spans?.hear,
    callCounter(parts, isForAgent),
    (event) => (event.type === "sent" ? checkpointer?.sending(event.call, event.repeatable) : undefined),
    // The shapes of results are in files and types for everybody. A key of private data, such as the name of a customer, stays out of them.
    (event) => (event.type === "answered" && !event.isPrivate ? parts.catalog.observer.see(event) : undefined),
    tell && progressLines(tell),
  ];
  return tellAll(all.filter((each) => each !== undefined));
}
