/** One child process with a process group of its own, and the promise that nothing of the group outlives us. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { ClaudikinsError, messageOf, systemCodeOf } from "../errors.ts";
import { resolveCommand } from "./command.ts";
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

const isWindows = process.platform === "win32";

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

  /** Throws SERVER_UNAVAILABLE when the command cannot be started, CONFIG_INVALID when its arguments cannot be passed on. */
  constructor(options: SpawnOptions) {
    const { env, cwd } = options;
    const { file, args, ...how } = resolveCommand(options.command, options.args, {
      env,
      cwd,
      platform: process.platform,
    });
    const mark = beforeStart(options.warn);
    try {
      this.#child = Bun.spawn([file, ...args], {
        ...how,
        cwd,
        env: { ...env, ...mark },
        stdin: "pipe",
        stdout: "pipe",
        stderr: "pipe",
        // There it would be a window of its own.
        detached: !isWindows,
        windowsHide: true,
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

  /**
   * Sends a signal to every process of the group; a group that is gone is fine. Windows has neither groups nor signals: there
   * SIGKILL ends the process and its descendants, as long as it is there itself, and nothing else does anything. A server
   * whose parent was killed sees that by the end of its stdin.
   */
  signal(name: NodeJS.Signals): void {
    if (isWindows) {
      if (name === "SIGKILL" && this.#child.exitCode === null) endTree(this.#child.pid);
      return;
    }
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

function endTree(pid: number): void {
  try {
    Bun.spawnSync(["taskkill", "/pid", String(pid), "/T", "/F"], { stdio: ["ignore", "ignore", "ignore"] });
  } catch {
    process.kill(pid, "SIGKILL");
  }
}

function startError(options: SpawnOptions, cause: unknown): ClaudikinsError {
  const { command, cwd } = options;
  const say = (message: string, hint?: string) => new ClaudikinsError("SERVER_UNAVAILABLE", message, { cause, hint });
  switch (systemCodeOf(cause)) {
    case "ENOENT":
      // The system says the same of a missing folder as of a missing command.
      if (!existsSync(cwd)) {
        return say(`its working directory ${cwd} does not exist`, 'Create the folder, or correct "cwd" in the config.');
      }
      // And of a script whose interpreter is missing.
      return existsSync(resolve(cwd, command)) && isPath(command)
        ? say(
            `the interpreter named in the first line of ${command} does not exist`,
            "Install it, or correct that line.",
          )
        : say(`command not found: ${command}`, missingHint(command));
    case "EACCES":
      return say(`permission denied: ${command}`, "Make it executable, for example with chmod +x.");
    default:
      return say(`${command}: ${messageOf(cause)}`);
  }
}

const isPath = (command: string) => /[\\/]/.test(command);

/** Of the commands that most servers are started with: what has to be installed, and where it is to be had. */
const origins: Record<string, string> = {
  npx: "Node.js (https://nodejs.org)",
  npm: "Node.js (https://nodejs.org)",
  node: "Node.js (https://nodejs.org)",
  uvx: "uv (https://docs.astral.sh/uv)",
  uv: "uv (https://docs.astral.sh/uv)",
  bunx: "Bun (https://bun.sh)",
  bun: "Bun (https://bun.sh)",
  deno: "Deno (https://deno.com)",
  python: "Python (https://www.python.org)",
  python3: "Python (https://www.python.org)",
  pipx: "pipx (https://pipx.pypa.io)",
  docker: "Docker (https://docs.docker.com/get-docker)",
};

function missingHint(command: string): string {
  if (/\s/.test(command)) return 'Put only the program in "command", and its arguments in "args".';
  if (isPath(command)) return 'Correct "command" in the config: there is no such file.';
  if (/^cmd(?:\.exe)?$/i.test(command))
    return 'This works on Windows only: remove "cmd" and "/c", and use what follows as "command".';
  const origin = Object.hasOwn(origins, command) ? origins[command] : command;
  const path = `the output of "${isWindows ? "where" : "which"} ${command}"`;
  return `Install ${origin}. If it is installed but not on the PATH of claudikins, set "command" to ${path}.`;
}
