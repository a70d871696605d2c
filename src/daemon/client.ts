/** Talks to the daemon of a config over its socket, and starts one if none is running. */
import { dirname } from "node:path";
import { ClaudikinsError, type ErrorCode } from "../base/errors.ts";
import { version } from "../base/version.ts";
import type { Environment } from "../config/environment.ts";
import { selfCommand } from "../config/self.ts";
import { daemonStartMs } from "./limits.ts";
import { type DaemonPaths, isNobody, notListening, placeOf, refuseForeign } from "./place.ts";
import { isLeaving, type ProblemCode } from "./protocol.ts";
import { requestDaemon } from "./transport/connect.ts";

/** Silence after which the daemon is asked whether it is still there. */
const daemonSilenceMs = 10_000;

export interface DaemonProblem {
  error: string;
  code: ProblemCode;
  suggestion?: string;
}

export class DaemonClient {
  readonly place: DaemonPaths;
  readonly #config: string | undefined;
  readonly #env: Environment;
  readonly #isAnsweredFor: boolean;
  #starting: Promise<void> | undefined;

  /**
   * `config` is the config file, undefined for the demo. A new daemon uses it only if it is trusted, or if `isAnsweredFor` says that the
   * user has confirmed it. Throws errors of reading the file.
   */
  constructor(config: string | undefined, env: Environment, isAnsweredFor = false) {
    this.#isAnsweredFor = isAnsweredFor;
    this.#config = config;
    this.#env = env;
    this.place = placeOf(config, env);
  }

  /**
   * The answer to a request; starts a daemon if none is running. Throws the daemon's errors, SERVER_UNAVAILABLE if it ended
   * during the request, FILE_NOT_WRITABLE if the socket belongs to another user, and CANCELLED.
   */
  async post(path: string, body: object, signal?: AbortSignal): Promise<unknown> {
    const text = JSON.stringify(body);
    return this.reach(() => this.#answer(path, text, signal));
  }

  /** Whether a daemon of this user is running and answers. */
  async look(): Promise<"answers" | "silent" | "none"> {
    const { lookAt } = await import("./peers.ts");
    return lookAt(this.place.socket);
  }

  /** The same as `post`, if a daemon is running that takes the request. Otherwise undefined: nothing was done. */
  async postToRunning(path: string, body: object, signal?: AbortSignal): Promise<unknown> {
    const answer = await this.#answer(path, JSON.stringify(body), signal);
    return answer && isLeaving(answer.code) ? undefined : answer;
  }

  /** Undefined if no daemon is running, and a problem if it is leaving. Throws its other errors. */
  async #answer(path: string, body: string, signal?: AbortSignal): Promise<Partial<DaemonProblem> | undefined> {
    const problem = (await this.#ask(path, body, signal)) as Partial<DaemonProblem> | undefined;
    if (problem?.error === undefined || problem.code === undefined || isLeaving(problem.code)) return problem;
    throw new ClaudikinsError(problem.code as ErrorCode, problem.error, { hint: problem.suggestion });
  }

  /**
   * Repeats the attempt until a daemon accepts it, and starts daemons in between. If the attempt returns undefined, no daemon was running.
   * If it returns a problem, the daemon was leaving. In both cases the attempt had no effect.
   */
  async reach<T extends object>(attempt: () => Promise<T | Partial<DaemonProblem> | undefined>): Promise<T> {
    for (const deadline = performance.now() + daemonStartMs; ; ) {
      const answer = await attempt();
      if (answer && !("code" in answer && isLeaving(answer.code))) return answer as T;
      if (performance.now() > deadline) throw notListening(this.place);
      // Concurrent callers share one start.
      this.#starting ??= this.#start().finally(() => {
        this.#starting = undefined;
      });
      await this.#starting;
    }
  }

  /** Throws FILE_NOT_WRITABLE if the socket, or its folder, belongs to another user. */
  refuseForeign(): void {
    refuseForeign(this.place.socket);
    refuseForeign(dirname(this.place.socket));
  }

  /** Undefined if no daemon is running, so that nothing was sent. */
  async #ask(path: string, body: string, signal?: AbortSignal): Promise<unknown> {
    this.refuseForeign();
    const silence = new AbortController();
    const watch = setInterval(() => void this.#listen(silence), daemonSilenceMs);
    try {
      return await requestDaemon(this.place.socket, `POST ${path}`, {
        body,
        version,
        signal: signal ? AbortSignal.any([signal, silence.signal]) : silence.signal,
      });
    } catch (error) {
      if (signal?.aborted) throw new ClaudikinsError("CANCELLED", "The call was cancelled", { cause: error });
      if (silence.signal.aborted) throw silence.signal.reason;
      if (isNobody(error)) return undefined;
      const hint = "Check whether the call took effect before retrying.";
      throw new ClaudikinsError(
        "SERVER_UNAVAILABLE",
        "The daemon ended during the call, so the outcome of the call is unknown",
        { hint },
      );
    } finally {
      clearInterval(watch);
    }
  }

  /** Detects a daemon that hangs or was stopped. A call may take long, but such a daemon answers no request at all. */
  async #listen(silence: AbortController): Promise<void> {
    const { statusOf } = await import("./peers.ts");
    if (await statusOf(this.place.socket)) return;
    const hint =
      "Check whether the call took effect. Then end the daemon with claudikins daemon stop --now and retry, or add --no-daemon.";
    silence.abort(
      new ClaudikinsError("SERVER_UNAVAILABLE", "The daemon stopped answering, so the outcome of the call is unknown", {
        hint,
      }),
    );
  }

  async #start(): Promise<void> {
    const [{ startDaemon }, { statusOf }] = await Promise.all([import("./launch.ts"), import("./peers.ts")]);
    await startDaemon({
      place: this.place,
      config: this.#config,
      env: this.#env,
      command: selfCommand(),
      isAnsweredFor: this.#isAnsweredFor,
      status: () => statusOf(this.place.socket),
    });
  }
}
