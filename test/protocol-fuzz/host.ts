/** `serve` as a process, and a host that measures the time of each ping and the memory of the process. */
import { readFileSync } from "node:fs";
import { testEnvironment } from "../support/process.ts";

/** The pause between two pings. */
const pauseMs = 10;

export interface Look {
  longestPingMs: number;
  mostMemoryMb: number;
}

export class FuzzedServe implements AsyncDisposable {
  readonly #child: Bun.Subprocess<"pipe", "pipe", "inherit">;
  readonly #waiting = new Map<number, (result: unknown) => void>();
  #id = 0;
  #isOver = false;

  constructor(command: string[], folder: string, flags: string[]) {
    this.#child = Bun.spawn([...command, "serve", "--no-daemon", ...flags], {
      cwd: folder,
      env: testEnvironment({ HOME: folder, XDG_DATA_HOME: `${folder}/data`, XDG_STATE_HOME: `${folder}/state` }),
      stdin: "pipe",
      stdout: "pipe",
      stderr: "inherit",
    });
    void this.#read();
  }

  async start(): Promise<void> {
    const clientInfo = { name: "fuzz", version: "1" };
    await this.request("initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo });
    this.#write({ jsonrpc: "2.0", method: "notifications/initialized" });
  }

  /** Resolves with undefined if the process has ended. */
  request(method: string, params: object = {}): Promise<unknown> {
    const id = ++this.#id;
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve);
      this.#write({ jsonrpc: "2.0", id, method, params });
    });
  }

  /** Sends pings until the work is done. */
  async watching(work: Promise<unknown>): Promise<Look> {
    let isOver = false;
    const look: Look = { longestPingMs: 0, mostMemoryMb: 0 };
    const pinging = (async () => {
      while (!isOver && !this.#isOver) {
        const startedAt = performance.now();
        await this.request("ping");
        look.longestPingMs = Math.max(look.longestPingMs, performance.now() - startedAt);
        look.mostMemoryMb = Math.max(look.mostMemoryMb, this.#memoryMb());
        await Bun.sleep(pauseMs);
      }
    })();
    await work;
    isOver = true;
    await pinging;
    return look;
  }

  /** Sends SIGTERM, and resolves with the milliseconds until the end. */
  async terminate(): Promise<number> {
    const startedAt = performance.now();
    this.#child.kill("SIGTERM");
    await this.#child.exited;
    return performance.now() - startedAt;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode === null) this.#child.kill("SIGKILL");
    await this.#child.exited;
  }

  #memoryMb(): number {
    if (process.platform !== "linux" || this.#isOver) return 0;
    try {
      return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${this.#child.pid}/status`, "utf8"))?.[1] ?? 0) / 1_024;
    } catch {
      return 0;
    }
  }

  #write(message: object): void {
    if (this.#isOver) return;
    this.#child.stdin.write(`${JSON.stringify(message)}\n`);
    void this.#child.stdin.flush();
  }

  async #read(): Promise<void> {
    let pending = "";
    for await (const chunk of this.#child.stdout.pipeThrough(new TextDecoderStream())) {
      const lines = `${pending}${chunk}`.split("\n");
      pending = lines.pop() ?? "";
      for (const line of lines) {
        const { id, result, error } = JSON.parse(line) as { id?: number; result?: unknown; error?: unknown };
        if (id === undefined) continue;
        this.#waiting.get(id)?.(result ?? error);
        this.#waiting.delete(id);
      }
    }
    this.#isOver = true;
    for (const resolve of this.#waiting.values()) resolve(undefined);
    this.#waiting.clear();
  }
}
