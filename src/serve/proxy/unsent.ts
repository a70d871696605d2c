/** Notifications that are not written yet. A server can send more of them than an agent reads, and they must not pile up in memory. */

import { maxUnsentNotices } from "../limits.ts";

export class Unsent {
  #count = 0;
  /** Notifications that were left out since the last one was written. */
  #dropped = 0;
  readonly #onDropped: ((count: number) => void) | undefined;

  /** `onDropped` is called once there is room again. */
  constructor(onDropped?: (count: number) => void) {
    this.#onDropped = onDropped;
  }

  /** Calls `send` unless too many notifications wait. Its promise resolves when the notification is written. */
  send(send: () => unknown): void {
    if (this.#count >= maxUnsentNotices) {
      this.#dropped += 1;
      return;
    }
    this.#count += 1;
    void Promise.resolve(send())
      .catch(() => {})
      .then(() => this.#written());
  }

  #written(): void {
    this.#count -= 1;
    if (this.#count > 0 || this.#dropped === 0) return;
    const dropped = this.#dropped;
    this.#dropped = 0;
    this.#onDropped?.(dropped);
  }
}
