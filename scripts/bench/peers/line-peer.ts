/** A peer in a Node process: it reads programs as lines, and writes their values as lines. */
import { linesOf } from "./lines.ts";
import type { Peer } from "./peer.ts";

/** No program of the benchmark takes this long: a peer that has not answered never will. */
const answerWithinMs = 60_000;

/** isolated-vm can wait for itself forever when its process exits. */
const exitWithinMs = 2_000;

export function startLines(name: string, command: string[]): Peer {
  const child = Bun.spawn(command, { stdin: "pipe", stdout: "pipe", stderr: "inherit" });
  const waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  let last = 0;
  void (async () => {
    for await (const line of linesOf(child.stdout)) {
      const { id, ok, value, error } = JSON.parse(line);
      if (ok) waiting.get(id)?.resolve(value);
      else waiting.get(id)?.reject(new Error(`${name}: ${error}`));
      waiting.delete(id);
    }
    for (const { reject } of waiting.values()) reject(new Error(`${name}: its process ended`));
  })();
  const send = (id: number, code: string) => {
    child.stdin.write(`${JSON.stringify({ id, code })}\n`);
    child.stdin.flush();
  };
  return {
    execute(code) {
      const { promise, resolve, reject } = Promise.withResolvers<unknown>();
      const late = new Error(`${name} has not answered within ${answerWithinMs / 1_000} seconds`);
      const timer = setTimeout(() => reject(late), answerWithinMs);
      waiting.set(++last, { resolve, reject });
      send(last, code);
      return promise.finally(() => clearTimeout(timer));
    },
    leave: (code) => send(++last, code),
    pids: () => [child.pid],
    async [Symbol.asyncDispose]() {
      await child.stdin.end();
      const timer = setTimeout(() => child.kill("SIGKILL"), exitWithinMs);
      await child.exited;
      clearTimeout(timer);
    },
  };
}
