/** The approval queue of calls that can wait: rows of the database, which every process of the user sees. */

import { Semaphore } from "../../base/semaphore.ts";
import type { Person } from "../../config/oidc.ts";
import { type Approval, type Asking, argumentsDigest, type DecisionPlace } from "../../store/approval.ts";
import { thisProcess } from "../../store/audit/decider.ts";
import {
  type AnswerRecorder,
  type ApprovalQueue,
  type Bound,
  type MadeCall,
  type QueueEntry,
  type Verdict,
  withoutArguments,
} from "../approval-queue.ts";
import { turnFor } from "../argument-size.ts";
import { changedParts } from "../definition.ts";
import { maxWaitingCalls } from "../limits.ts";
import type { Question } from "../question-text.ts";
import { shownId } from "../refusals.ts";
import type { Approvals } from "./approvals.ts";

/** Characters of the line of code that is shown with a question. */
const maxQuestionCodeChars = 300;

interface StoredQueueOptions {
  approvals: Approvals;
  /** The config file; null for the demo. */
  config: string | null;
  /** The door of the config. */
  door: string | undefined;
  /** The person for whom the programs run. */
  person: Person | undefined;
  /** How long calls wait. Read for each question. */
  expiresAfterMs: () => number;
  /** The place where this process asks the user. */
  place: DecisionPlace;
  /** Removes the secrets of a server's entry from its arguments. */
  redact: (server: string, args: object) => object;
}

export class StoredQueue implements ApprovalQueue {
  readonly waits = true;
  readonly #options: StoredQueueOptions;
  /** By the signal that all calls of one execution share. */
  readonly #places = new WeakMap<AbortSignal, Semaphore>();

  constructor(options: StoredQueueOptions) {
    this.#options = options;
  }

  places(signal: AbortSignal | undefined): Semaphore {
    const places = (signal && this.#places.get(signal)) ?? new Semaphore(maxWaitingCalls);
    if (signal) this.#places.set(signal, places);
    return places;
  }

  // The app chooses this queue only for calls that can wait: `made` is never undefined.
  async isApproved({ execution, call }: MadeCall): Promise<boolean> {
    return (await this.#options.approvals.ofCall(execution, call))?.state === "approved";
  }

  async add(question: Question, bound: Bound, made: MadeCall): Promise<QueueEntry> {
    const { approvals } = this.#options;
    const { server, tool } = question;
    const { execution, call } = made;
    const known = await approvals.ofCall(execution, call);
    if (known && known.state !== "withdrawn") {
      const isRefused = known.state === "denied" || known.state === "expired";
      const changed = isRefused ? [] : differences(known.bound, bound);
      if (changed.length === 0) return this.#queued(known, known.changed ?? undefined);
      await approvals.withdraw(known.id);
      return this.#asked({ ...question, changed }, bound, made);
    }
    const session = await approvals.sessionApproval(execution, server, tool);
    if (!session) return this.#asked(question, bound, made);
    const changed = differences(withoutArguments(session.bound), withoutArguments(bound));
    if (changed.length === 0) return this.#queued(session, undefined);
    // The permission no longer counts, even if the old definition comes back.
    await approvals.withdraw(session.id);
    return this.#asked({ ...question, changed }, bound, made);
  }

  /** Records an answer about a call that is not in the database. */
  readonly record: AnswerRecorder = async ({ server, tool, args }, bound, answer, made) => {
    const { approvals, config, person, place } = this.#options;
    const { execution, call, line } = made ?? {};
    const event = {
      decision: answer.state,
      ...(config === null ? {} : { config }),
      ...(person ? { person } : {}),
      ...(execution === undefined ? {} : { execution, call }),
      ...(line === undefined ? {} : { line }),
      server,
      tool,
      arguments: { sha256: argumentsDigest(bound), bytes: Buffer.byteLength(JSON.stringify(args)) },
      ...(answer.state === "approved" ? { scope: answer.scope } : {}),
    };
    const isDecided = answer.state !== "expired";
    const by = thisProcess(isDecided ? place : undefined);
    await approvals.note(event, { ...by, ...(isDecided && person ? { person } : {}) });
  };

  async #asked(question: Question, bound: Bound, made: MadeCall): Promise<QueueEntry> {
    const { approvals, config, door, person, expiresAfterMs, redact } = this.#options;
    const { server, tool, args, why, told, changed } = question;
    const { execution, call, line, code } = made;
    await turnFor(args);
    const json = JSON.stringify(redact(server, args));
    const askedAt = approvals.now();
    const asking: Omit<Asking, "owner"> = {
      config,
      door: door ?? null,
      person: person?.id ?? null,
      personName: person?.name ?? null,
      execution,
      call,
      line: line ?? null,
      code: code === undefined ? null : code.trim().slice(0, maxQuestionCodeChars),
      server,
      tool,
      args: json,
      why,
      told,
      changed: changed ? [...changed] : null,
      bound,
      askedAt,
      expiresAt: askedAt + expiresAfterMs(),
    };
    return this.#queued(await approvals.ask(asking, shownId(question)), changed);
  }

  #queued(row: Approval, changed: readonly string[] | undefined): QueueEntry {
    const { approvals, place, person } = this.#options;
    const { promise, resolve } = Promise.withResolvers<Verdict>();
    let isOpen = row.state === "open";
    const close = (closed: Approval) => {
      isOpen = false;
      resolve(verdictOf(closed));
    };
    const leave = isOpen ? approvals.watch(row, close) : () => {};
    if (!isOpen) close(row);
    return {
      id: row.id,
      get isOpen() {
        return isOpen;
      },
      changed,
      verdict: promise,
      async decide(answer) {
        if (answer.state !== "expired") await approvals.decide(row.id, { ...answer, by: place }, person);
      },
      async withdraw() {
        leave();
        await approvals.withdraw(row.id);
      },
      leave,
    };
  }
}

/** The names of the parts that differ. */
function differences(before: Bound, now: Bound): string[] {
  return changedParts(new Map(Object.entries(before)), new Map(Object.entries(now)));
}

function verdictOf({ state, scope, askedAt, expiresAt, reason }: Approval): Verdict {
  if (state === "approved") return { state, scope: scope ?? "once" };
  if (state === "expired") return { state, afterMs: expiresAt - askedAt };
  return state === "denied" ? { state, reason: reason ?? undefined } : { state: "withdrawn" };
}
