/** The contract of a replay: a program runs with the time and the chance of an earlier execution, and its answers come one at a time. */

/** Four 32-bit numbers, from which all random values of a program follow. */
export type Seed = readonly [number, number, number, number];

/** A program that can do nothing before a call is answered or a timer fires. */
export interface WaitingProgram {
  /** Number of calls that it waits for. */
  open: number;
  /** When its first timer fires, in milliseconds since 1970 of its own clock. */
  wakeAt: number | undefined;
  /** Fires this timer. The clock then shows its time. */
  wake: () => void;
}

/** The clock of the program stands still while it computes. It moves when a call is answered or a timer fires. */
export interface ReplayOptions {
  /** What the clock shows when the program begins, in milliseconds since 1970. */
  startsAt: number;
  /** Called whenever the program waits for a call. */
  onWait: (program: WaitingProgram) => void;
  /** What the clock shows when the call is answered, in milliseconds since 1970. */
  answeredAt: (call: number) => number;
}
