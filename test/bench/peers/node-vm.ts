/** One Node process that runs each program in a fresh context of `node:vm`. No isolation, and hence the lower bound. */
import { join } from "node:path";
import { linesOf } from "./lines.ts";
import type { Peer, Servers } from "./peer.ts";

const program = join(import.meta.dir, "node-vm.mjs");

export function startNodeVm(servers: Servers = {}): Peer {
  const child = Bun.spawn(["node", program, JSON.stringify(servers)], {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "inherit",
  });
  const waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  let last = 0;
  void (async () => {
    for await (const line of linesOf(child.stdout)) {
      const { id, ok, value, error } = JSON.parse(line);
      if (ok) waiting.get(id)?.resolve(value);
      else waiting.get(id)?.reject(new Error(`node:vm: ${error}`));
      waiting.delete(id);
    }
    for (const { reject } of waiting.values()) reject(new Error("node:vm: its process ended"));
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
