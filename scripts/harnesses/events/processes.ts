/** The processes of an installation: `serve --http` and the daemon, which are killed, frozen and started again. */
import { openSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../../../test/support/free-port.ts";
import { testEnvironment } from "../../../test/support/process.ts";
import { Clock, removeShared } from "./clock.ts";

/** Time for a process to say that it serves. A database that restarts lets it end before. */
const startMs = 20_000;

/** Time for a process to end after SIGTERM. */
const endMs = 15_000;

/** Time between two attempts to start, as of what watches over services. */
const startAgainMs = 300;

/** The exit code of what was interrupted. */
const interruptedCode = 130;

interface ProcessOptions {
  command: readonly string[];
  folder: string;
  env: Record<string, string>;
}

export class Process {
  readonly name: string;
  readonly clock: Clock;
  /** 0 for the daemon. */
  readonly port: number;
  readonly #options: ProcessOptions;
  #child: Bun.Subprocess<"ignore", "pipe", number> | undefined;
  #isStopped = false;
  #isKilled = false;
  #isFrozen = false;
  deaths = 0;
  /** The times that it has ended by itself. */
  readonly ends: string[] = [];

  constructor(name: "daemon" | `serve-${number}`, options: ProcessOptions) {
    this.name = name;
    this.#options = options;
    this.clock = new Clock(join(options.folder, `clock-${name}`));
    this.port = name === "daemon" ? 0 : freePort();
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  /** The file with everything that it has written. */
  get logFile(): string {
    return join(this.#options.folder, `log-${this.name}`);
  }

  /** Keeps it running from now on, as what watches over services does. Resolves when it runs. */
  start(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    void this.#keepRunning(resolve);
    return promise;
  }

  async #keepRunning(onStarted: () => void): Promise<void> {
    while (!this.#isStopped) {
      const child = this.#spawned();
      this.#child = child;
      this.#isKilled = false;
      const hasStarted = await this.#hasStarted(child);
      if (hasStarted) onStarted();
      else child.kill("SIGKILL");
      const code = await child.exited;
      removeShared(child.pid);
      if (hasStarted && !this.#isKilled && !this.#isStopped) this.ends.push(`${this.name} has ended with ${code}`);
      if (!this.#isStopped) await Bun.sleep(startAgainMs);
    }
  }

  #spawned() {
    const { command, folder, env } = this.#options;
    const serve = ["serve", "--http", String(this.port), "--without-token", "--json", "--lame-duck", "0s"];
    return Bun.spawn([...command, ...(this.name === "daemon" ? ["daemon", "run"] : serve)], {
      cwd: folder,
      env: testEnvironment({ ...env, ...this.clock.env, CLAUDIKINS_DAEMON: "on", CLAUDIKINS_LOG: "info" }),
      stdio: ["ignore", "pipe", openSync(this.logFile, "a")],
    });
  }

  /** The daemon says nothing. */
  async #hasStarted(child: Bun.Subprocess<"ignore", "pipe", number>): Promise<boolean> {
    if (this.name === "daemon") return true;
    const first = child.stdout.getReader().read();
    const { value } = await Promise.race([first, Bun.sleep(startMs).then(() => ({ value: undefined }))]);
    return value !== undefined;
  }

  async kill(): Promise<void> {
    const child = this.#child;
    if (!child || child.exitCode !== null) return;
    this.#isKilled = true;
    this.#isFrozen = false;
    this.deaths += 1;
    child.kill("SIGKILL");
    await child.exited;
  }

  /** Ends it at once, for good. */
  async end(): Promise<void> {
    this.#isStopped = true;
    await this.kill();
  }

  /** Only its own freeze lets it go on: it may have been killed meanwhile. */
  async freeze(forMs: number): Promise<void> {
    const child = this.#child;
    if (!child || this.#isFrozen) return;
    this.#isFrozen = true;
    child.kill("SIGSTOP");
    await Bun.sleep(forMs);
    child.kill("SIGCONT");
    if (child === this.#child) this.#isFrozen = false;
  }

  /** Ends it as its user does. Returns how it has ended, if that was not in order. */
  async stop(): Promise<string[]> {
    this.#isStopped = true;
    const child = this.#child;
    if (!child) return [];
    child.kill("SIGTERM");
    child.kill("SIGCONT");
    const code = await Promise.race([child.exited, Bun.sleep(endMs).then(() => undefined)]);
    if (code === undefined) await this.kill();
    if (code === 0 || code === interruptedCode || this.#isKilled) return this.ends;
    return [
      ...this.ends,
      `${this.name} ${code === undefined ? `had not ended ${endMs / 1_000} s after SIGTERM` : `has ended with ${code}`}`,
    ];
  }
}
