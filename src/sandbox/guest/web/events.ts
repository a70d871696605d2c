/** `Event`, `EventTarget` and `CustomEvent`. */
import { Event } from "event-target-shim";

export { Event, EventTarget } from "event-target-shim";

export class CustomEvent extends Event {
  readonly detail: unknown;
  constructor(type: string, options: { detail?: unknown; bubbles?: boolean; cancelable?: boolean } = {}) {
    super(type, options);
    this.detail = options.detail ?? null;
  }
}
