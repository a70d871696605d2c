/**
 * The server for fuzzing the protocol. The tool `answer` takes `{ seed, index }` and returns the random result for
 * them; `relist` replaces its tools by the random list for them, and announces the change. It writes JSON-RPC by hand.
 */
import { createInterface } from "node:readline";
import { Random } from "../sandbox/fuzz/random.ts";
import { hostileSchema, randomList, randomResult } from "./values.ts";

let list = JSON.stringify({ tools: [{ name: "answer", inputSchema: { type: "object" } }] });

interface Wanted {
  seed: number;
  index: number;
  relist?: boolean;
  schema?: boolean;
}

function call({ seed, index, relist, schema }: Wanted): string {
  const random = new Random(seed, index);
  if (!relist) return randomResult(random);
  list = schema
    ? JSON.stringify({
        tools: [
          { name: "answer", inputSchema: { type: "object" } },
          { name: "hostile", inputSchema: hostileSchema(random).schema },
        ],
      })
    : randomList(random);
  write('{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}');
  return '{"content":[]}';
}

function resultOf(method: string, { arguments: args }: { arguments?: Wanted }): string {
  if (method === "initialize") {
    return '{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"fuzz","version":"1"}}';
  }
  if (method === "tools/list") return list;
  return method === "tools/call" && args ? call(args) : "{}";
}

const out = Bun.stdout.writer();
function write(line: string): void {
  out.write(`${line}\n`);
  void out.flush();
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params = {} } = JSON.parse(line);
  if (id !== undefined) write(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${resultOf(method, params)}}`);
}
