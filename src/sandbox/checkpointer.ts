/** Saves executions outside of the process that runs them, so that another process can continue them. */
import type { CallMessage, ParkedProgram, SettleMessage } from "./messages.ts";
import type { RecorderState } from "./recorder.ts";

/** An execution that waits: plain data. */
export interface SavedExecution {
  program: ParkedProgram;
  recorder: RecorderState;
  /** The rest of its time limit in milliseconds. */
  restMs: number;
  /** When its first timer fires, in milliseconds since 1970. */
  wakeAt: number | undefined;
}

/** A call that an execution waits for. With an answer, the program has not received it yet. */
export interface OpenCall {
  message: CallMessage;
  answer?: SettleMessage | undefined;
}

/** Saves one execution. Its methods never throw or reject. */
export interface Checkpointer {
  /** Whether the execution is saved from its start. Otherwise it is saved once it is parked, or once its id is handed out. */
  readonly fromStart: boolean;
  /**
   * Saves the execution in the place of what was saved before, and the calls that it waits for. New calls are made when this has
   * resolved. Undefined if it cannot be saved: what was saved before must not be used. The data changes later; copy it at once.
   */
  save(saved: SavedExecution | undefined, open: readonly OpenCall[]): Promise<void>;
  /** Saves the answer of a call before the program receives it. */
  answered(answer: SettleMessage): void;
}
