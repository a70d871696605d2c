/**
 * The approval queue of an agent's single calls. Nothing waits for the answer: the call fails with the id of the stored question, and
 * the agent makes the same call again when it is decided. An approval counts for one call.
 */

import { argumentsDigest } from "../../store/approval.ts";
import type { ApprovalQueue, Bound, QueueEntry } from "../approval-queue.ts";
import { maxWaitingCalls } from "../limits.ts";
import type { Question } from "../question-text.ts";
import { keyOf } from "../refusals.ts";
import type { StoredQueue } from "./stored-queue.ts";

/** A stored question that no call waits for. */
interface Left {
  /** The tool and the arguments. */
  key: string;
  /** The number of the question's call in the database. */
  call: number;
  withdraw: QueueEntry["withdraw"];
}

export class LaterQueue implements ApprovalQueue, AsyncDisposable {
  readonly waits = true;
  readonly outlivesCalls = true;
  readonly #stored: StoredQueue;
  readonly #execution: string;
  /** The oldest first. */
  readonly #left: Left[] = [];
  #calls = 0;

  /** `execution` is the id under which the database has the calls of this agent. */
  constructor(stored: StoredQueue, execution: string) {
    this.#stored = stored;
    this.#execution = execution;
  }

  places(signal: AbortSignal | undefined) {
    return this.#stored.places(signal);
  }

  async isApproved(): Promise<boolean> {
    return false;
  }

  async add(question: Question, bound: Bound): Promise<QueueEntry> {
    const key = `${keyOf(question)}\n${argumentsDigest(bound)}`;
    const at = this.#left.findIndex((left) => left.key === key);
    // Two equal concurrent calls need two questions, so a question that a call has taken is removed from the list.
    const [known] = at === -1 ? [] : this.#left.splice(at, 1);
    this.#calls += known ? 0 : 1;
    const call = known?.call ?? this.#calls;
    const entry = await this.#stored.add(question, bound, { execution: this.#execution, call, line: undefined });
    const { changed, verdict, decide, withdraw, id } = entry;
    return {
      get isOpen() {
        return entry.isOpen;
      },
      ...{ changed, verdict, decide, withdraw, id },
      leave: () => {
        entry.leave();
        this.#left.push({ key, call, withdraw });
        if (this.#left.length > maxWaitingCalls)
          void this.#left
            .shift()
            ?.withdraw()
            .catch(() => {});
      },
    };
  }

  /** Withdraws the questions of calls that will not be made again. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.allSettled(this.#left.splice(0).map(({ withdraw }) => withdraw()));
  }
}
