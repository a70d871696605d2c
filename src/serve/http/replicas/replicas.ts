/**
 * The replicas of a team, which share a database. Each of them takes any request. It passes a request on to the replica that has the
 * session or the work in memory, and takes over from dead replicas.
 */

import { createHmac, timingSafeEqual } from "node:crypto";
import { isObject, type JsonObject, parsedJson } from "../../../base/json-object.ts";
import { personMs } from "../../../base/limits.ts";
import type { Log } from "../../../base/log.ts";
import { derivedKey } from "../../../base/seal.ts";
import { sha256 } from "../../../base/sha256.ts";
import type { Reached, Replica, ReplicaRows, TeamState } from "../../../store/replicas.ts";
import { retryAfterSeconds } from "../../limits.ts";
import { listenedTo } from "../../modern/envelope.ts";
import { type SharedStates, sealedStates } from "../../modern/parked-requests.ts";
import { partsOfTask } from "../../modern/tasks.ts";
import type { StayOpen } from "../event-stream.ts";
import { HttpRefusal } from "../refusal.ts";
import { targetOf } from "../target.ts";
import { misdirected, passOn } from "./pass.ts";
import { SharedSessions, type SharedSessionsOptions } from "./shared-sessions.ts";

/** Difference of the clocks of two replicas, with the time that a request takes from one to the other. */
const maxForwardSkewMs = 60_000;

/** Time between the first two attempts to reach a replica that does not answer, or no longer has the session. It grows from one to the next. */
const passAgainMs = 25;

/** The longest time between two such attempts. */
const maxPassAgainMs = 500;

/** How often it is looked whether a replica that has not answered yet is alive. */
const replicaLookMs = 2_000;

/** Time for the others to notice that a replica is dead: longer than its lease in store/limits.ts. */
const deadReplicaMs = 25_000;

export interface ReplicasOptions {
  rows: ReplicaRows;
  log: Log;
}

/** This replica, since the others know it. */
interface Here {
  replica: Replica;
  /** Proves that a request was passed on by a replica. */
  proofKey: Uint8Array;
  states: SharedStates;
}

/** A request that may belong elsewhere. */
export interface Arrived {
  request: Request;
  /** The path of the request, which is one of ours. */
  path: string;
  /** The remote address of the client. */
  address: string;
  stayOpen: StayOpen;
  /** Reads the body. Throws an HttpRefusal. */
  body: () => Promise<string>;
  /** Whether it only listens, so that nobody waits for its end. */
  isListening?: boolean | undefined;
}

export class Replicas implements AsyncDisposable {
  readonly #options: ReplicasOptions;
  readonly #joining = Promise.withResolvers<void>();
  /** The sessions of this process, by the digests of their ids, with the lapses of this replica when it was sure to have them. */
  readonly #sessions = new Map<string, number>();
  /** Requests that other replicas answer, without streams that clients only listen to. */
  readonly #open = new Set<Request>();
  readonly #ending = new AbortController();
  #here: Here | undefined;

  constructor(options: ReplicasOptions) {
    this.#options = options;
    this.#joining.promise.catch(() => {});
  }

  /** Tells the others that this process answers at `url`. Throws DATABASE_UNAVAILABLE. */
  async join(url: string): Promise<void> {
    const { rows, log } = this.#options;
    try {
      const key = await rows.key();
      const replica = await rows.join(url);
      const states = { replica: replica.name, states: sealedStates(key, personMs) };
      this.#here = { replica, proofKey: derivedKey(key, "passed requests"), states };
      log.info(`replica ${replica.name} answers at ${url}`);
      this.#joining.resolve();
    } catch (error) {
      this.#joining.reject(error);
      throw error;
    }
  }

  /** Resolves when this process has joined. No request is answered before. */
  get joined(): Promise<void> {
    return this.#joining.promise;
  }

  /** Requests that other replicas answer. */
  get passing(): number {
    return this.#open.size;
  }

  /** What all replicas have together. */
  state(): Promise<TeamState> {
    return this.#options.rows.state();
  }

  /** The lease by which the others count this replica as alive. Undefined before it has joined them. */
  get lease(): Pick<Replica, "holds" | "lapses"> | undefined {
    return this.#here?.replica;
  }

  /** The state of this replica's requests that wait for answers. */
  get states(): SharedStates {
    return this.#joined.states;
  }

  get #joined(): Here {
    if (!this.#here) throw new Error("the replica has not joined the others");
    return this.#here;
  }

  /** What another replica says about a request that it has passed on. Throws an HttpRefusal with status 403 or 421. */
  forwarded(request: Request): Forwarded | undefined {
    const { replica, proofKey } = this.#joined;
    const forwarded = forwardedOf(request, proofKey);
    if (forwarded && forwarded.to !== replica.name) {
      throw new HttpRefusal(misdirected, "The request was meant for another replica");
    }
    return forwarded;
  }

  sessionsOf(options: Pick<SharedSessionsOptions, "place" | "idleMs">): SharedSessions {
    const { rows, log } = this.#options;
    return new SharedSessions({
      ...options,
      rows: rows.sessions,
      replica: () => this.#joined.replica,
      log,
      here: this.#sessions,
    });
  }

  /**
   * Passes a request on to the replica that has its session. Otherwise returns the request, which may be a copy, to be answered here: the session
   * is here, or has ended, or its replica is dead. Throws an HttpRefusal.
   */
  async passSession(arrived: Arrived): Promise<Response | Request> {
    const { request } = arrived;
    const id = request.headers.get("mcp-session-id");
    const digest = id === null ? undefined : sha256(id);
    if (digest === undefined || this.#isHere(digest)) return request;
    return this.#pass(arrived, () => this.#options.rows.sessions.find(digest));
  }

  /** Not after a lapse: another replica may have the session now. */
  #isHere(digest: string): boolean {
    const { replica } = this.#joined;
    return replica.holds && this.#sessions.get(digest) === replica.lapses;
  }

  /**
   * Passes a request of revision 2026-07-28 on to the replica that has its waiting request or its task. A request that listens to several
   * tasks hears only of the ones on the first one's replica. Undefined if it is answered here. Throws an HttpRefusal.
   */
  async passRequest(arrived: Arrived, body: unknown): Promise<Response | undefined> {
    const { taskIds } = listenedTo(body) ?? {};
    const locate = await this.#placeOf(body, taskIds?.[0]);
    const passed = locate && (await this.#pass({ ...arrived, isListening: taskIds !== undefined }, locate));
    return passed instanceof Response ? passed : undefined;
  }

  async #placeOf(
    body: unknown,
    listened: string | undefined,
  ): Promise<(() => Promise<Reached | undefined>) | undefined> {
    const { rows } = this.#options;
    const { requestState, taskId = listened } = paramsIn(body);
    if (typeof requestState === "string") {
      const { replica } = this.states.states.open(requestState) ?? {};
      return replica === undefined ? undefined : () => rows.find(replica);
    }
    const { execution, replica } = partsOfTask(taskId);
    if (execution !== undefined) return () => rows.runnerOf(execution);
    return replica === undefined ? undefined : () => rows.find(replica);
  }

  /** Sign-ins of people to servers, each of which only the replica can end that has begun it. */
  readonly signIns = {
    begun: async ({ state, person, endsAt }: BegunSignIn & { endsAt: number }, max: number): Promise<void> => {
      const { replica } = this.#joined;
      const begun = { kind: signInKind(person), id: sha256(state), value: replica.name, endsAt };
      await this.#options.rows.values.add(begun, max);
    },
    /** `path` is the path of the page at which sign-ins end. */
    pass: async ({ state, person }: BegunSignIn, request: Request, path: string): Promise<Response | undefined> => {
      const { rows } = this.#options;
      const { value } = (await rows.values.get(signInKind(person), sha256(state))) ?? {};
      if (value === undefined || request.headers.has(forwardHeader)) return undefined;
      const arrived = { request, path, address: "", stayOpen: () => {}, body: () => request.text() };
      const passed = await this.#pass(arrived, () => rows.find(value));
      return passed instanceof Response ? passed : undefined;
    },
  };

  /**
   * Passes a request on to where it belongs. A replica that cannot be reached is asked again until the others count it as dead. Returns the
   * request if it belongs here, or nowhere.
   */
  async #pass(arrived: Arrived, locate: () => Promise<Reached | undefined>): Promise<Response | Request> {
    const { request, path, address, stayOpen } = arrived;
    const { replica, proofKey } = this.#joined;
    const deadline = performance.now() + deadReplicaMs;
    const open = arrived.isListening || request.method !== "POST" ? undefined : this.#open;
    let body: string | undefined;
    for (let pauseMs = passAgainMs; ; pauseMs = Math.min(2 * pauseMs, maxPassAgainMs)) {
      const place = await locate();
      if (!place || place.replica === replica.name) return body !== undefined ? copyOf(request, body) : request;
      if (request.method === "POST") body ??= await arrived.body();
      const headers = { [forwardHeader]: forwardProof(request, { to: place.replica, address }, proofKey) };
      // A replica that is alive answers, also when it has handed the session over meanwhile.
      const isThere = async () => (await this.#options.rows.find(place.replica)) !== undefined;
      const answer = await this.#watched(isThere, stayOpen, (isGone) =>
        passOn({ request, path, body, url: place.url, headers, stayOpen, isGone, open, ending: this.#ending.signal }),
      );
      if (answer) return answer;
      if (performance.now() > deadline) throw busy("The replica that has the session does not answer");
      stayOpen();
      await Bun.sleep(pauseMs);
    }
  }

  /** A replica that stands still takes connections and says nothing. Once it counts as dead, nobody waits for it. */
  async #watched<T>(
    isThere: () => Promise<boolean>,
    stayOpen: StayOpen,
    work: (isGone: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const gone = new AbortController();
    const look = async () => {
      stayOpen();
      if (!(await isThere().catch(() => true))) gone.abort();
    };
    const timer = setInterval(() => void look(), replicaLookMs).unref();
    try {
      return await work(gone.signal);
    } finally {
      clearInterval(timer);
    }
  }

  /** Resolves when no request is open any more that another replica answers. */
  async passed(): Promise<void> {
    while (this.#open.size > 0) await Bun.sleep(passAgainMs);
  }

  /** Ends the streams of requests that others answer. Their clients learn it, and resume those that can be resumed elsewhere. */
  stopPassing(): void {
    this.#ending.abort();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#here?.replica[Symbol.asyncDispose]();
  }
}

interface BegunSignIn {
  state: string;
  /** The id of the person. */
  person: string;
}

/** Each person has as many as the others, whatever these do. */
const signInKind = (person: string) => `server sign-in of ${person}`;

function busy(message: string): HttpRefusal {
  return new HttpRefusal(503, message, { "retry-after": String(retryAfterSeconds) });
}

/** A request whose body was read. */
function copyOf(request: Request, body: string): Request {
  const { url, method, headers, signal } = request;
  return new Request(url, { method, headers, signal, body });
}

function paramsIn(body: unknown): JsonObject {
  const { params } = Object(body) as { params?: unknown };
  return isObject(params) ? params : {};
}

/**
 * The header of a request that one replica passes on to another. It proves that a replica of the same database has passed it, so that nobody
 * else can claim the address of a client, and names the replica that it is meant for, so that no request is passed on twice.
 */
export const forwardHeader = "claudikins-forwarded";

/** The content of the header. */
interface Forwarded {
  /** The name of the replica that it is meant for. */
  to: string;
  /** The remote address of the client. */
  address: string;
}

interface Proven extends Forwarded {
  /** In milliseconds since 1970. */
  at: number;
  method: string;
  /** The path with the query. */
  path: string;
  host: string;
}

/** `key` is known to replicas alone. */
export function forwardProof(request: Request, { to, address }: Forwarded, key: Uint8Array): string {
  const proven: Proven = { to, address, at: Date.now(), ...aboutOf(request) };
  const text = Buffer.from(JSON.stringify(proven)).toString("base64url");
  return `${text}.${codeOf(text, key).toString("base64url")}`;
}

/** Undefined for a request that no replica has passed on. Throws an HttpRefusal with status 403 for a header that proves nothing. */
export function forwardedOf(request: Request, key: Uint8Array): Forwarded | undefined {
  const header = request.headers.get(forwardHeader);
  if (header === null) return undefined;
  const [text = "", code = ""] = header.split(".");
  const given = Buffer.from(code, "base64url");
  const wanted = codeOf(text, key);
  if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) throw unproven();
  const proven = parsedJson(Buffer.from(text, "base64url").toString());
  if (!isObject(proven)) throw unproven();
  const { to, address, at, method, path, host } = proven as unknown as Proven;
  const own = aboutOf(request);
  if (method !== own.method || path !== own.path || host !== own.host) throw unproven();
  if (Math.abs(Date.now() - at) > maxForwardSkewMs) {
    throw new HttpRefusal(403, "The request was passed on too long ago, or the clocks of the replicas differ");
  }
  return { to, address };
}

function unproven(): HttpRefusal {
  return new HttpRefusal(403, "Only a replica of the same database may pass requests on");
}

function aboutOf(request: Request): Pick<Proven, "method" | "path" | "host"> {
  const { pathname, search } = targetOf(request);
  const { method, headers } = request;
  return { method, path: `${pathname}${search}`, host: headers.get("host") ?? "" };
}

function codeOf(text: string, key: Uint8Array): Buffer {
  return createHmac("sha256", key).update(text).digest();
}
