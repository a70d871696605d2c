/** A peer that is a process of Node: programs go in as lines, their values come out as lines. */
import { linesOf } from "./lines.ts";
import type { Peer } from "./peer.ts";

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
      waiting.set(++last, { resolve, reject });
      send(last, code);
      return promise;
    },
    leave: (code) => send(++last, code),
    pids: () => [child.pid],
    async [Symbol.asyncDispose]() {
      await child.stdin.end();
      await child.exited;
    },
  };
}
