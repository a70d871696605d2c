/** The replicas of a storm: processes of `claudikins serve --http`, which are started, killed, frozen and drained. */

import { executable } from "../../../test/support/claudikins.ts";
import { type HttpServe, httpServe } from "../../../test/support/http-serve.ts";
import { hasProc, residentMb } from "../../bench/measure.ts";
import type { Site } from "./site.ts";

interface Replica {
  port: number;
  serve: HttpServe;
  state: "serving" | "frozen" | "leaving";
  peakMb: number;
}

/** The time that running calls have after SIGTERM. */
const graceSeconds = 8;

/** The longest time from SIGTERM to the end of a replica. */
const endsWithinMs = 40_000;

export class Replicas implements AsyncDisposable {
  readonly #site: Site;
  readonly #wrong: string[];
  /** Time after which a session without requests ends. */
  readonly #sessionIdle: string;
  readonly #running: Replica[] = [];
  /** Everything that ended replicas wrote to stderr. */
  #outputs = "";
  readonly #peaksMb: number[] = [];
  readonly #watch = setInterval(() => this.#measure(), 500);

  /** Replicas that end in a wrong way are told to `wrong`. */
  constructor(site: Site, wrong: string[], sessionIdle = "20s") {
    this.#site = site;
    this.#wrong = wrong;
    this.#sessionIdle = sessionIdle;
  }

  /** `program` is another executable than that of this checkout. */
  async start(program = executable()): Promise<void> {
    const { folder, ports, env } = this.#site;
    const port = ports.find((each) => !this.#running.some((replica) => replica.port === each));
    if (port === undefined) throw new Error("no port is left for a replica");
    const replica = { port, state: "serving", peakMb: 0 } as Replica;
    this.#running.push(replica);
    const flags = ["--grace", `${graceSeconds}s`, "--session-idle", this.#sessionIdle];
    try {
      replica.serve = await httpServe(folder, flags, {
        env,
        port: String(port),
        token: "kept",
        command: [program],
      });
    } catch (error) {
      this.#forget(replica);
      throw error;
    }
  }

  /** The replicas that answer. */
  get serving(): Replica[] {
    return this.#running.filter(({ state, serve }) => state === "serving" && serve !== undefined);
  }

  /** The highest resident size of each replica so far, in MB. */
  get peaksMb(): number[] {
    return [...this.#peaksMb, ...this.#running.map(({ peakMb }) => peakMb)];
  }

  get output(): string {
    return [this.#outputs, ...this.#running.map(({ serve }) => serve?.stderr() ?? "")].join("\n");
  }

  async kill(replica: Replica): Promise<void> {
    replica.state = "leaving";
    process.kill(replica.serve.pid, "SIGKILL");
    await replica.serve.exited;
    this.#forget(replica);
  }

  async freeze(replica: Replica, forMs: number): Promise<void> {
    replica.state = "frozen";
    process.kill(replica.serve.pid, "SIGSTOP");
    await Bun.sleep(forMs);
    process.kill(replica.serve.pid, "SIGCONT");
    replica.state = "serving";
  }

  /** Ends a replica as an orchestrator does. */
  async drain(replica: Replica): Promise<void> {
    replica.state = "leaving";
    replica.serve.signal("SIGTERM");
    const late = Bun.sleep(endsWithinMs).then(() => undefined);
    const exitCode = await Promise.race([replica.serve.exited, late]);
    if (exitCode === undefined) {
      const lines = replica.serve.stderr().trimEnd().split("\n").slice(-5).join("; ");
      this.#wrong.push(`a replica had not ended ${endsWithinMs / 1_000} s after SIGTERM: ${lines}`);
      process.kill(replica.serve.pid, "SIGKILL");
      await replica.serve.exited;
    } else if (exitCode !== 0) this.#wrong.push(`a replica has ended with ${exitCode} after SIGTERM`);
    this.#forget(replica);
  }

  /** Ends all replicas in an orderly way. */
  async drainAll(): Promise<void> {
    await Promise.all(this.serving.map((each) => this.drain(each)));
  }

  #forget(replica: Replica): void {
    this.#running.splice(this.#running.indexOf(replica), 1);
    if (!replica.serve) return;
    this.#outputs += replica.serve.stderr();
    this.#peaksMb.push(replica.peakMb);
  }

  #measure(): void {
    if (!hasProc) return;
    for (const replica of this.serving) {
      try {
        replica.peakMb = Math.max(replica.peakMb, Math.round(residentMb(replica.serve.pid)));
      } catch {
        // It has just ended.
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#watch);
    for (const { serve } of this.#running) await serve?.[Symbol.asyncDispose]();
  }
}
