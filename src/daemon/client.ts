/** The daemon of a config as other processes of ours ask it: over its socket, and started where none runs. */
import { dirname } from "node:path";
import type { Environment } from "../config/environment.ts";
import { ClaudikinsError, type ErrorCode, systemCodeOf } from "../errors.ts";
import { version } from "../version.ts";
import { type Place, placeOf, refuseForeign } from "./place.ts";
import { jsonLines, type ProblemCode } from "./protocol.ts";

export interface Problem {
  error: string;
  code: ProblemCode;
  suggestion?: string;
}

export type LineListener = (line: object) => void;

/** How long nothing may come until it is asked whether it is there. */
const silenceMs = 10_000;

/** How long a daemon may take until it listens. */
const startMs = 30_000;

export class DaemonClient {
  readonly place: Place;
  readonly #config: string | undefined;
  readonly #env: Environment;
  readonly #isAnsweredFor: boolean;
  #starting: Promise<void> | undefined;

  /**
   * `config` is its file, undefined for the demo's. A daemon that is started uses it only where it is trusted, or where the
   * caller's user answers for it. Throws what reading the file throws.
   */
  constructor(config: string | undefined, env: Environment, isAnsweredFor = false) {
    this.#isAnsweredFor = isAnsweredFor;
    this.#config = config;
    this.#env = env;
    this.place = placeOf(config, env);
  }

  /**
   * The answer to a request, from the daemon that there is or one that is started for it. Throws what the daemon says went
   * wrong, SERVER_UNAVAILABLE when it ended in the middle, FILE_NOT_WRITABLE where somebody else listens, and CANCELLED.
   * `onLine` is told of each line before the last, where the answer comes in lines.
   */
  async post(path: string, body: object, signal?: AbortSignal, onLine?: LineListener): Promise<unknown> {
    const text = JSON.stringify(body);
    return this.reach(async () => {
      const answer = await this.#ask("POST", path, text, signal, onLine);
      const problem = answer as Partial<Problem> | undefined;
      if (problem?.error === undefined || problem.code === undefined || isLeaving(problem.code)) return problem;
      throw new ClaudikinsError(problem.code as ErrorCode, problem.error, { hint: problem.suggestion });
    });
  }

  /**
   * Tries until it is neither nobody's (undefined) nor that of a daemon that is leaving, and starts one between two tries.
   * Nothing was done by what was tried before.
   */
  async reach<T extends object>(attempt: () => Promise<T | Partial<Problem> | undefined>): Promise<T> {
    for (const deadline = performance.now() + startMs; ; ) {
      const answer = await attempt();
      if (answer && !("code" in answer && isLeaving(answer.code))) return answer as T;
      if (performance.now() > deadline) throw this.#notListening();
      await this.#start();
    }
  }

  /** Throws FILE_NOT_WRITABLE where the socket, or its folder, is somebody else's. */
  refuseForeign(): void {
    refuseForeign(this.place.socket);
    if (process.platform !== "win32") refuseForeign(dirname(this.place.socket));
  }

  /** Undefined when nobody listens, so that nothing was sent. */
  async #ask(
    method: string,
    path: string,
    body: string | undefined,
    signal?: AbortSignal,
    onLine?: LineListener,
  ): Promise<unknown> {
    this.refuseForeign();
    const silence = new AbortController();
    const watch = setInterval(() => void this.#listen(silence), silenceMs);
    try {
      const answer = await fetch(`http://localhost${path}`, {
        unix: this.place.socket,
        method,
        keepalive: false,
        timeout: false,
        headers: { "claudikins-version": version },
        signal: signal ? AbortSignal.any([signal, silence.signal]) : silence.signal,
        ...(body === undefined ? {} : { body }),
      });
      const isInLines = onLine && answer.headers.get("content-type") === jsonLines;
      return isInLines ? await lastLine(answer, onLine) : await answer.json();
    } catch (error) {
      if (signal?.aborted) throw new ClaudikinsError("CANCELLED", "The call was cancelled", { cause: error });
      if (silence.signal.aborted) throw silence.signal.reason;
      if (isNobody(error)) return undefined;
      throw new ClaudikinsError(
        "SERVER_UNAVAILABLE",
        "The daemon ended during the call, so the outcome of the call is unknown",
        {
          hint: "Check whether the call took effect before retrying.",
        },
      );
    } finally {
      clearInterval(watch);
    }
  }

  /** A call may take long, but a daemon that says nothing to anybody is stuck, or was stopped. */
  async #listen(silence: AbortController): Promise<void> {
    const { statusOf } = await import("./peers.ts");
    if (await statusOf(this.place.socket)) return;
    const error = new ClaudikinsError(
      "SERVER_UNAVAILABLE",
      "The daemon stopped answering, so the outcome of the call is unknown",
      {
        hint: "Check whether the call took effect. Then end the daemon's process and retry, or add --no-daemon.",
      },
    );
    silence.abort(error);
  }

  /** One start at a time for all who want one. */
  #start(): Promise<void> {
    this.#starting ??= this.#startOnce().finally(() => {
      this.#starting = undefined;
    });
    return this.#starting;
  }

  async #startOnce(): Promise<void> {
    const { launchDaemon } = await import("./launch.ts");
    const deadline = performance.now() + startMs;
    while (performance.now() < deadline) {
      const daemon = launchDaemon(this.place, this.#config, this.#env, this.#isAnsweredFor);
      // Where another process was quicker, ours ends at once, and that one listens in a moment.
      const patienceMs = () => (daemon.hasEnded() ? 500 : startMs);
      for (const begun = performance.now(); performance.now() < Math.min(begun + patienceMs(), deadline); ) {
        const status = (await this.#ask("GET", "/status", undefined).catch(() => undefined)) as { pid?: number };
        if (status) {
          // The quicker one was somebody else's, and ours will not be needed when it has come so far.
          if (status.pid !== daemon.pid) daemon.end();
          return;
        }
        const failure = daemon.failure();
        if (failure) throw failure;
        await Bun.sleep(5);
      }
      // On a busy machine it may have ended after the patience was over.
      const failure = daemon.failure();
      if (failure) throw failure;
    }
    throw this.#notListening();
  }

  #notListening(): ClaudikinsError {
    return new ClaudikinsError("SERVER_UNAVAILABLE", `The daemon is not listening after ${startMs / 1_000} s`, {
      hint: `Read ${this.place.log}, or use --no-daemon or CLAUDIKINS_DAEMON=off to do without it.`,
    });
  }
}

/** Whether another daemon is to be asked, or started: this one has done nothing. */
export function isLeaving(code: unknown): boolean {
  return code === "LEAVING" || code === "OUTDATED";
}

/** Nobody has made this socket, or whoever did is gone. */
export function isNobody(error: unknown): boolean {
  return ["ENOENT", "ENOTDIR", "ECONNREFUSED"].includes(systemCodeOf(error) ?? "");
}

/** The last one, parsed. Throws where there is none, or where it is not whole. */
async function lastLine({ body }: Response, onLine: LineListener): Promise<unknown> {
  let last: object | undefined;
  let pending: string[] = [];
  for await (const chunk of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const [first = "", ...others] = chunk.split("\n");
    pending.push(first);
    for (const next of others) {
      if (last) onLine(last);
      last = JSON.parse(pending.join(""));
      pending = [next];
    }
  }
  if (!last || pending.join("") !== "") throw new Error("the answer was cut off");
  return last;
}
