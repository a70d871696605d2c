/**
 * Multi round-trip requests (MCP 2026-07-28, basic/patterns/mrtr). A request that needs an answer of the host ends with
 * `input_required`. Its work stays parked in memory until the host sends the request again with the answers, and continues there. For
 * hosts that know tasks, a request may go on as a task instead.
 */
import { ProtocolError, ProtocolErrorCode, type Result, type ServerContext } from "@modelcontextprotocol/server";
import { ownKey, SealedValues } from "../../base/seal.ts";
import { Semaphore } from "../../base/semaphore.ts";
import type { ReceivedRequest } from "../host-request.ts";
import { OpenRequest } from "./open-request.ts";

interface ParkedRequestsOptions {
  /** Time in milliseconds for the host to come back with the answers. */
  answerMs: number;
  /** Maximum number of requests that run concurrently. Others wait; parked ones do not count. */
  maxRunning: number;
  /** Maximum number of open requests, including parked ones. */
  maxOpen: number;
  /** Aborted when claudikins ends. */
  closing: AbortSignal;
  /** Undefined without other replicas. */
  states?: SharedStates | undefined;
}

/** What requests of several replicas have, so that each replica can read the state of another one's. */
export interface SharedStates {
  /** The name of this replica. */
  replica: string;
  states: SealedValues<State>;
}

/** When requests become tasks. */
export interface TaskRules {
  tasks: { readonly hasRoom: boolean; adopt(open: OpenRequest): Promise<Result> };
  /** Whether a question makes a task of the request. Otherwise the question ends the request, unless it is a task already. */
  whenAsked: boolean;
}

/** The content of `requestState`, which is sealed, so that the host can neither read nor change it: the request, and the round in which the host was shown its questions. */
interface State {
  id: string;
  round: string;
  /** The replica that has the request. */
  replica?: string | undefined;
  /** The stored execution of the request, and what its claim is made of. */
  execution?: { id: string; secret: string } | undefined;
}

/** Seals states with a key. `keptMs` is their time in milliseconds. */
export function sealedStates(key: Uint8Array, keptMs: number): SealedValues<State> {
  return new SealedValues<State>(key, "request states", keptMs);
}

type Work = (open: OpenRequest) => Promise<object>;

/** The work that continues the stored execution of a request. Undefined if there is none for this host. */
type Resume = (execution: { id: string; secret: string }) => Promise<Work | undefined>;

/** The open requests of all hosts at one address. */
export class ParkedRequests {
  readonly #options: ParkedRequestsOptions;
  readonly #open = new Map<string, OpenRequest>();
  readonly #places: Semaphore;
  readonly #states: SealedValues<State>;

  constructor(options: ParkedRequestsOptions) {
    this.#options = options;
    this.#places = new Semaphore(options.maxRunning);
    // Without other replicas, the requests too exist only in this process.
    this.#states = options.states?.states ?? sealedStates(ownKey(), options.answerMs);
  }

  /** Whether another replica can continue what a stored execution has begun. */
  get areShared(): boolean {
    return this.#options.states !== undefined;
  }

  /** Requests that a host waits for. */
  get running(): number {
    return [...this.#open.values()].filter(({ isParked }) => !isParked).length;
  }

  /** Open requests, including parked ones. */
  get size(): number {
    return this.#open.size;
  }

  /**
   * Answers one round of a request: begins the work, or continues the work that the request's state names. Returns the result of
   * the work, or the questions that the host must answer first, or the task that the request becomes. `tasks` is given if the host
   * knows tasks, and `resume` if executions of other replicas can be continued. Throws a ProtocolError if the state cannot be used.
   */
  async round(
    asked: ReceivedRequest,
    context: ServerContext,
    work: Work,
    tasks?: TaskRules,
    resume?: Resume,
  ): Promise<Result> {
    if ((await this.#places.acquire(context.mcpReq.signal)) === false) throw new Error("The request was cancelled");
    try {
      const state: unknown = context.mcpReq.requestState();
      const open =
        state === undefined ? this.#begin(asked, context, work) : await this.#parked(state, asked, context, resume);
      return (await this.#answered(open, context, tasks?.tasks.hasRoom ? tasks : undefined)) as Result;
    } finally {
      this.#places.release();
    }
  }

  /** Begins a request that the host does not wait for. */
  begin(asked: ReceivedRequest, context: ServerContext, work: Work): OpenRequest {
    return new OpenRequest(asked, context, work, this.#options.closing);
  }

  async #answered(open: OpenRequest, context: ServerContext, rules: TaskRules | undefined): Promise<object> {
    let isParked = false;
    try {
      const turn = await open.take(context, rules !== undefined);
      if (rules && (turn === "long" || (turn === "asks" && rules.whenAsked))) return await rules.tasks.adopt(open);
      isParked = turn === "asks";
      return typeof turn === "string" ? await this.#park(open) : turn;
    } finally {
      if (!isParked) this.#open.delete(open.id);
    }
  }

  async #park(open: OpenRequest): Promise<object> {
    const inputRequests = open.park(this.#options.answerMs, () => this.#open.delete(open.id));
    const { id, execution, secret } = open;
    const { replica } = this.#options.states ?? {};
    // Another replica can continue it only if it is stored.
    if (replica !== undefined) await execution?.handOut();
    const stored = replica === undefined || !execution ? {} : { execution: { id: execution.id, secret } };
    const requestState = this.#states.seal({ id, round: open.round!, replica, ...stored });
    return { resultType: "input_required", inputRequests, requestState };
  }

  #begin(asked: ReceivedRequest, context: ServerContext, work: Work): OpenRequest {
    if (this.#open.size >= this.#options.maxOpen) {
      const oldest = [...this.#open.values()].find(({ isParked }) => isParked);
      if (!oldest)
        throw new ProtocolError(ProtocolErrorCode.InternalError, "Too many requests are open: try again later");
      oldest.cancel();
      this.#open.delete(oldest.id);
    }
    const open = new OpenRequest(asked, context, work, this.#options.closing);
    this.#open.set(open.id, open);
    return open;
  }

  async #parked(
    sealed: unknown,
    asked: ReceivedRequest,
    context: ServerContext,
    resume: Resume | undefined,
  ): Promise<OpenRequest> {
    const state = this.#states.open(String(await sealed));
    if (!state) throw unusable("it is not from this process, or it has expired");
    const open = this.#open.get(state.id);
    if (!open) return this.#resumed(state, asked, context, resume);
    if (!open.isFor(asked)) throw unusable("it belongs to another request");
    if (!open.isParked || state.round !== open.round) throw unusable("its questions were answered already");
    return open;
  }

  /** Continues the execution of a request that this replica does not have. The questions have ended with the replica that has asked them. */
  async #resumed(
    { replica, execution }: State,
    asked: ReceivedRequest,
    context: ServerContext,
    resume: Resume | undefined,
  ): Promise<OpenRequest> {
    const work = execution && (await resume?.(execution));
    if (work) return this.#begin(asked, context, work);
    const isOfOther = replica !== undefined && replica !== this.#options.states?.replica;
    throw unusable(isOfOther ? "the replica that asked has ended" : "the request that asked has ended");
  }
}

function unusable(why: string): ProtocolError {
  const message = `This requestState cannot be used: ${why}. To start again, send the request without it.`;
  return new ProtocolError(ProtocolErrorCode.InvalidParams, message, { reason: "invalid_request_state" });
}
