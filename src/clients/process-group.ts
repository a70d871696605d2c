/** One child process with a process group of its own, and the promise that nothing of the group outlives us. */
import { existsSync } from "node:fs";
import { ClaudikinsError, messageOf, systemCodeOf } from "../errors.ts";
import { beforeStart, notStarted, unwatch, watch } from "./watchdog.ts";

/** How long a group may take to end after its stdin was closed, and again after SIGTERM, before SIGKILL. */
const eofGraceMs = 300;
const termGraceMs = 1_500;

export interface SpawnOptions {
  command: string;
  args: string[];
  cwd: string;
  env: Record<string, string>;
  /** Told when nothing could end the group, were we killed. */
  warn?: (message: string) => void;
}

const alive = new Set<ProcessGroup>();

/**
 * Kills every group that is still there, at once. For the last moment of the process, where nothing can be awaited; where
 * there is no such moment, since we were killed, the watchdog does the same.
 */
function killAllGroups(): void {
  for (const group of alive) group.signal("SIGKILL");
}
process.on("exit", killAllGroups);

type Child = Bun.Subprocess<"pipe", "pipe", "pipe">;

export class ProcessGroup implements AsyncDisposable {
  readonly #child: Child;
  #stopping: Promise<void> | undefined;

  /** Throws SERVER_UNAVAILABLE when the command cannot be started. */
  constructor(options: SpawnOptions) {
    const mark = beforeStart(options.warn);
    try {
      this.#child = Bun.spawn([options.command, ...options.args], {
        cwd: options.cwd,
        env: { ...options.env, ...mark },
        stdin: "pipe",
        stdout: "pipe",
        stderr: "pipe",
        detached: true,
      });
    } catch (cause) {
      notStarted();
      throw startError(options, cause);
    }
    watch(this.#child.pid);
    alive.add(this);
    void this.#child.exited.then(() => {
      // What the leader leaves behind (an `npx` or `sh -c` grandchild) belongs to the group and goes with it.
      this.signal("SIGKILL");
      alive.delete(this);
      unwatch(this.#child.pid);
    });
  }

  get pid(): number {
    return this.#child.pid;
  }
  get stdin(): Child["stdin"] {
    return this.#child.stdin;
  }
  get stdout(): Child["stdout"] {
    return this.#child.stdout;
  }
  get stderr(): Child["stderr"] {
    return this.#child.stderr;
  }
  /** How the leader ended, as words: "exited with code 1", "was ended by SIGKILL". */
  get exited(): Promise<string> {
    return this.#child.exited.then((code) =>
      this.#child.signalCode ? `was ended by ${this.#child.signalCode}` : `exited with code ${code}`,
    );
  }

  /** Sends a signal to every process of the group; a group that is gone is fine. */
  signal(name: NodeJS.Signals): void {
    try {
      process.kill(-this.#child.pid, name);
    } catch (error) {
      if (systemCodeOf(error) !== "ESRCH" && systemCodeOf(error) !== "EPERM") throw error;
    }
  }

  /** Closes stdin, waits, SIGTERM, waits, SIGKILL: resolves when the leader is gone. Safe to call often. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  async #stop(): Promise<void> {
    try {
      await this.#child.stdin.end();
    } catch {
      // The pipe is broken: the process is ending or has ended, which is what we want.
    }
    if (await this.#endsWithin(eofGraceMs)) return;
    this.signal("SIGTERM");
    if (await this.#endsWithin(termGraceMs)) return;
    this.signal("SIGKILL");
    await this.#child.exited;
  }

  async #endsWithin(ms: number): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const timer = setTimeout(resolve, ms, false);
    const ended = await Promise.race([this.#child.exited.then(() => true), promise]);
    clearTimeout(timer);
    return ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}

function startError(options: SpawnOptions, cause: unknown): ClaudikinsError {
  const { command, cwd } = options;
  const say = (message: string, hint?: string) => new ClaudikinsError("SERVER_UNAVAILABLE", message, { cause, hint });
  switch (systemCodeOf(cause)) {
    case "ENOENT":
      // The system says the same of a missing folder as of a missing command.
      return existsSync(cwd)
        ? say(`command not found: ${command}`, `Install ${command}, or give its full path as "command" in the config.`)
        : say(`its working directory ${cwd} does not exist`, 'Create the folder, or correct "cwd" in the config.');
    case "EACCES":
      return say(`not allowed to run ${command}`, "It must be a program, and executable: chmod +x makes a script so.");
    default:
      return say(messageOf(cause));
  }
}
