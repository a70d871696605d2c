/** The timers of a program. They can be saved with the program, and may be longer than the host's timers. */
import { maxTimerMs } from "../../base/time-limit.ts";
import type { ReplayedWorld } from "../replay/world.ts";

export class ProgramTimers {
  readonly #timers = new Map<number, { timer: Timer | undefined; at: number }>();
  readonly #fire: (id: number) => void;
  /** Given for a replay: nothing fires by itself. */
  readonly #world: ReplayedWorld | undefined;

  /**
   * `fire` is called with the id of a timer, which it must clear. `saved` contains the time at which each timer of a saved program fires.
   */
  constructor(fire: (id: number) => void, saved: ReadonlyMap<number, number> = new Map(), world?: ReplayedWorld) {
    this.#fire = fire;
    this.#world = world;
    for (const [id, at] of saved) this.set(id, Math.max(0, at - Date.now()));
  }

  set(id: number, delayMs: number): void {
    if (this.#world) {
      this.#timers.set(id, { timer: undefined, at: this.#world.now + delayMs });
      return;
    }
    const fire = () => this.#fire(id);
    const later = () => this.set(id, delayMs - maxTimerMs);
    const timer = delayMs > maxTimerMs ? setTimeout(later, maxTimerMs) : setTimeout(fire, delayMs);
    this.#timers.set(id, { timer, at: Date.now() + delayMs });
  }

  /** Whether there was such a timer. */
  clear(id: number): boolean {
    clearTimeout(this.#timers.get(id)?.timer);
    return this.#timers.delete(id);
  }

  /** When each timer fires, in milliseconds since 1970. */
  get state(): Map<number, number> {
    return new Map([...this.#timers].map(([id, { at }]) => [id, at]));
  }

  get size(): number {
    return this.#timers.size;
  }

  /** When the first timer fires, in milliseconds since 1970. Infinity if there is none. */
  get wakeAt(): number {
    return this.#timers.values().reduce((first, { at }) => Math.min(first, at), Number.POSITIVE_INFINITY);
  }

  /** Fires the first timer at once, and the others as much earlier. */
  skip(): void {
    const skipped = this.wakeAt - Date.now();
    if (skipped <= 0) return;
    for (const [id, { timer, at }] of [...this.#timers]) {
      clearTimeout(timer);
      this.set(id, Math.max(0, at - skipped - Date.now()));
    }
  }

  /** Fires the first timer of a replay, with its time on the clock. */
  wake(): void {
    const { wakeAt } = this;
    const [first] = [...this.#timers].find(([, { at }]) => at === wakeAt) ?? [];
    if (first === undefined) return;
    this.#world?.moveTo(wakeAt);
    // Not at once, because a program may set one timer after another without end.
    setTimeout(() => this.#fire(first), 0);
  }

  stop(): void {
    for (const { timer } of this.#timers.values()) clearTimeout(timer);
  }
}
