/** Servers on 127.0.0.1 for tests: a program of test/fixtures/servers as a process, until its `using` block ends. */
import { fixture } from "./servers.ts";

export interface NetworkFixture extends AsyncDisposable {
  port: number;
  /** The server's lines, one for each request and event. */
  lines: string[];
  /** Resolves when the line has appeared this many times. */
  saw(line: string, times?: number): Promise<void>;
  kill(): Promise<void>;
}

export interface NetworkOptions {
  /** A program in test/fixtures/servers. */
  program?: string;
  args?: string[];
  env?: Record<string, string>;
}

export async function networkFixture(mode: string, options: NetworkOptions = {}) {
  const { command, args } = fixture(options.program ?? "network", mode, ...(options.args ?? []));
  const child = Bun.spawn([command, ...args], {
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    env: { ...process.env, ...options.env },
  });
  const lines: string[] = [];
  const waiting = new Set<() => void>();
  const readLines = async () => {
    const decoder = new TextDecoder();
    let pending = "";
    for await (const chunk of child.stderr) {
      const parts = (pending + decoder.decode(chunk, { stream: true })).split("\n");
      pending = parts.pop() ?? "";
      lines.push(...parts);
      for (const look of waiting) look();
    }
  };
  void readLines();
  let first = "";
  const reader = child.stdout.getReader();
  while (!first.includes("\n")) {
    const { done, value } = await reader.read();
    if (done) throw new Error(`the server did not start: ${lines.join("\n")}`);
    first += new TextDecoder().decode(value);
  }
  const kill = async () => {
    child.kill("SIGKILL");
    await child.exited;
  };
  const started: NetworkFixture = {
    port: Number(first),
    lines,
    async saw(line, times = 1) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const look = () => lines.filter((each) => each === line).length >= times && resolve();
      waiting.add(look);
      look();
      await promise;
      waiting.delete(look);
    },
    kill,
    [Symbol.asyncDispose]: kill,
  };
  return started;
}
