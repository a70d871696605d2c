/** Saves executions outside of the process that runs them, so that another process can continue them. */

import type { RecordedOutput, RecorderState } from "./main-thread/outcome-recorder.ts";
import type { CallMessage, SettleMessage } from "./messages.ts";
import type { Manifest, ProgramImage } from "./program-image.ts";

/** A waiting execution, in the form in which it is saved. */
export interface SavedRun {
  image: ProgramImage;
  recorder: RecorderState;
  /** Everything that was recorded so far, in order. More is added at the end later. */
  recorded: readonly RecordedOutput[];
  /** The remaining time limit in milliseconds. */
  restMs: number;
  /** When its first timer fires, in milliseconds since 1970. */
  wakeAt: number | undefined;
}

/** An execution that was saved, without its pages. */
export interface RestoredRun extends Omit<SavedRun, "image"> {
  image: { manifest: Manifest; isAsleep: boolean };
}

/** A call that an execution waits for. With an answer, the program has not received it yet. */
export interface OpenCall {
  message: CallMessage;
  answer?: SettleMessage | undefined;
}

/** The permission to make a copy of a program. */
export interface CopyTurn {
  /** Whether the copy must have all pages. */
  isWhole: boolean;
  /** Call this when the copy has been saved, or if no copy was made. */
  end(): void;
}

/** Saves one execution. Its methods never throw or reject, except `load`. */
export interface Checkpointer {
  /** Whether the execution is saved from its start. Otherwise it is saved once it is parked, or once its id is handed out. */
  readonly fromStart: boolean;
  /** Whether the last attempt to save it failed. */
  readonly hasFailed: boolean;
  /** Waits until a program with this much memory may be copied. */
  turn(memoryBytes: number): Promise<CopyTurn>;
  /**
   * Saves the execution and the calls that it waits for, and replaces the previous save. New calls are made after this resolves. Without
   * `saved`, the execution cannot be saved, and the previous save must not be used. Copy the data at once, because it changes later; only
   * the image is transferred. Resolves with whether the execution is saved.
   */
  save(saved: SavedRun | undefined, open: readonly OpenCall[]): Promise<boolean>;
  /** Reads the image that was saved last. */
  load(): Promise<ProgramImage>;
  /** Saves the answer of a call before the program receives it. */
  answered(answer: SettleMessage): Promise<void> | undefined;
}
