/** Tells a listener of this process what the process has written to the audit log. */
import type { AuditEvent, Decider } from "./event.ts";

/** Events that are kept for a listener. A command writes few; a process that writes many has a listener, or needs none. */
const maxUnheardEvents = 100;

export interface WrittenEvent {
  event: AuditEvent;
  by: Decider;
  /** Milliseconds since 1970. */
  at: number;
}

let listener: ((written: WrittenEvent) => void) | undefined;
/** Events that were written while nobody listened. */
const unheard: WrittenEvent[] = [];

/** Called by the stores after the events are written. */
export function audited(events: readonly AuditEvent[], by: Decider, at: number): void {
  for (const event of events) {
    if (listener) listener({ event, by, at });
    else if (unheard.length < maxUnheardEvents) unheard.push({ event, by, at });
  }
}

/** Calls the listener with each event, and with those that nobody has heard. Returns a function that ends this. */
export function onAudited(hear: (written: WrittenEvent) => void): () => void {
  listener = hear;
  for (const each of unheard.splice(0)) hear(each);
  return () => {
    if (listener === hear) listener = undefined;
  };
}

/** Whether events were written that nobody has heard. */
export function hasUnheard(): boolean {
  return unheard.length > 0;
}
