/** `serve` on stdin and stdout, and a raw host of MCP 2026-07-28, which gets results as they are. */
import { claudikinsCommand } from "./command.ts";
import { type Answer, envelope } from "./modern-host.ts";
import { testEnvironment } from "./process.ts";
import type { TemporaryFolder } from "./temporary.ts";

type Message = { id?: number; method?: string; params?: Record<string, unknown> } & Partial<Answer>;

export interface RawStdio extends AsyncDisposable {
  /** Sends a request, and returns the answer. */
  ask(method: string, params: Record<string, unknown>, options?: { capabilities?: object }): Promise<Answer>;
  /** All notifications so far. */
  told: Message[];
  /** Resolves with the first notification that fits. */
  hears(fits: (message: Message) => boolean): Promise<Message>;
  signal(name: "SIGKILL" | "SIGTERM"): void;
  /** Ends its input. */
  leave(): void;
  exited: Promise<unknown>;
}

interface RawStdioOptions {
  flags?: string[];
  /** The claudikins to start. */
  command?: readonly string[];
}

/** `capabilities` are those of the host. */
export function rawStdio(
  folder: Pick<TemporaryFolder, "path">,
  capabilities: object,
  { flags = [], command = claudikinsCommand }: RawStdioOptions = {},
): RawStdio {
  const child = Bun.spawn([...command, "serve", ...flags], {
    cwd: folder.path,
    env: testEnvironment({ XDG_DATA_HOME: `${folder.path}/data` }),
    stdin: "pipe",
    stdout: "pipe",
    stderr: "inherit",
  });
  const waiting = new Map<number, (message: Message) => void>();
  const told: Message[] = [];
  const listeners = new Set<() => void>();
  let lastId = 0;
  void (async () => {
    let rest = "";
    for await (const chunk of child.stdout.pipeThrough(new TextDecoderStream())) {
      const lines = (rest + chunk).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        const message = JSON.parse(line) as Message;
        if (message.id !== undefined) waiting.get(message.id)?.(message);
        else told.push(message);
      }
      for (const listener of listeners) listener();
    }
  })();
  return {
    told,
    async ask(method, params, options = {}) {
      lastId += 1;
      const id = lastId;
      const { promise, resolve } = Promise.withResolvers<Message>();
      waiting.set(id, resolve);
      const _meta = envelope(options.capabilities ?? capabilities);
      try {
        child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params: { ...params, _meta } })}\n`);
        child.stdin.flush();
      } catch {
        // The process has just died, and never answers.
      }
      return { status: 200, ...(await promise) } as Answer;
    },
    async hears(fits) {
      const { promise, resolve } = Promise.withResolvers<Message>();
      const look = () => {
        const found = told.find(fits);
        if (found) resolve(found);
      };
      listeners.add(look);
      look();
      return await promise.finally(() => listeners.delete(look));
    },
    signal: (name) => child.kill(name),
    leave: () => void child.stdin.end(),
    exited: child.exited,
    async [Symbol.asyncDispose]() {
      child.stdin.end();
      await child.exited;
    },
  };
}
