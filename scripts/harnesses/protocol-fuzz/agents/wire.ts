/** A process that speaks JSON-RPC on stdin and stdout, such as `serve`, with the requests that wait for its answers. */
import { millisecondsToEnd } from "../waits.ts";

export interface Message {
  id?: number | string;
  method?: string;
  params?: Record<string, unknown>;
  result?: Record<string, unknown>;
  error?: { code: number; message: string };
}

export class Wire implements AsyncDisposable {
  readonly #child: Bun.Subprocess<"pipe", "pipe", "inherit">;
  readonly #received: (message: Message) => void;
  readonly #waiting = new Map<number | string, (answer: Message | undefined) => void>();
  #id = 0;
  #isOver = false;

  /** `received` gets the process's own requests and notifications. */
  constructor(command: string[], options: { cwd: string; env: object }, received: (message: Message) => void) {
    this.#received = received;
    this.#child = Bun.spawn(command, {
      ...options,
      stdin: "pipe",
      stdout: "pipe",
      stderr: "inherit",
    } as never) as never;
    void this.#read();
  }

  get pid(): number {
    return this.#child.pid;
  }

  /** Resolves with undefined if the process has ended. With `signal`, the request is cancelled when it is aborted. */
  request(method: string, params: object = {}, signal?: AbortSignal): Promise<Message | undefined> {
    this.#id += 1;
    const id = this.#id;
    if (this.#isOver) return Promise.resolve(undefined);
    const cancel = () => {
      this.send({ method: "notifications/cancelled", params: { requestId: id } });
      this.#waiting.get(id)?.(undefined);
    };
    const { promise, resolve } = Promise.withResolvers<Message | undefined>();
    this.#waiting.set(id, resolve);
    this.send({ id, method, params: params as Record<string, unknown> });
    signal?.addEventListener("abort", cancel, { once: true });
    return promise.finally(() => {
      signal?.removeEventListener("abort", cancel);
      this.#waiting.delete(id);
    });
  }

  send(message: Message): void {
    if (this.#isOver) return;
    this.#child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
    void this.#child.stdin.flush();
  }

  /** Sends SIGTERM, and resolves with the milliseconds until the end, see `millisecondsToEnd`. */
  terminate(): Promise<number> {
    return millisecondsToEnd(this.pid, () => this.#child.exitCode !== null || this.#child.signalCode !== null);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode === null) this.#child.kill("SIGKILL");
    await this.#child.exited;
  }

  async #read(): Promise<void> {
    let pending = "";
    for await (const chunk of this.#child.stdout.pipeThrough(new TextDecoderStream())) {
      const lines = `${pending}${chunk}`.split("\n");
      pending = lines.pop() ?? "";
      for (const line of lines) {
        const message = JSON.parse(line) as Message;
        if (message.method === undefined) this.#waiting.get(message.id ?? "")?.(message);
        else this.#received(message);
      }
    }
    this.#isOver = true;
    for (const resolve of this.#waiting.values()) resolve(undefined);
  }
}
