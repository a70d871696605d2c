/**
 * A fuzzed server of the older era, which writes JSON-RPC by hand. Arguments: its name, and the file where gated calls are recorded.
 * `answer` takes `{ seed, index }` and returns the random result for them; `relist` replaces its tools by the random list for them, and
 * announces the change. `ask` asks hostile questions. `flood` sends notifications and questions without a pause for `ms`.
 */
import { createInterface } from "node:readline";
import { Random } from "../../random.ts";
import { hostileKey, hostileQuestion } from "../questions.ts";
import { hostileSchema, largeList, randomList, randomResult } from "../values.ts";
import { gatedTools, record } from "./record.ts";

const [name = "", recordFile = ""] = process.argv.slice(2);

const open = ["answer", "ask", "flood"].map((tool) => ({ name: tool, inputSchema: { type: "object" } }));
const gated = gatedTools.map((tool) => ({ name: tool, inputSchema: { type: "object" } }));
const own = JSON.stringify({ tools: [...open, ...gated] });
let list = own;

interface Wanted {
  id?: string;
  seed: number;
  index: number;
  relist?: boolean;
  schema?: boolean;
  ms?: number;
}

function answer({ seed, index, relist, schema }: Wanted): string {
  const random = new Random(seed, index);
  if (!relist) return randomResult(random);
  list = schema
    ? JSON.stringify({ tools: [...open, { name: "hostile", inputSchema: hostileSchema(random).schema }] })
    : randomList(random);
  announce();
  return '{"content":[]}';
}

/** Asks questions under ids that collide, withdraws some, and may end the call before they are answered. */
async function ask({ seed, index }: Wanted): Promise<string> {
  const random = new Random(seed, index);
  const count = 1 + random.below(4);
  for (let each = 0; each < count; each++) {
    const id = hostileKey(random);
    write(JSON.stringify({ jsonrpc: "2.0", id, ...hostileQuestion(random, name) }));
    if (random.chance(0.4)) await Bun.sleep(random.below(150));
    if (random.chance(0.4)) notify("notifications/cancelled", { requestId: id });
    // The answers to requests that claudikins may send next.
    if (random.chance(0.2)) write(JSON.stringify({ jsonrpc: "2.0", id: random.below(60), result: { content: [] } }));
  }
  await Bun.sleep(random.below(300));
  return '{"content":[{"type":"text","text":"asked"}]}';
}

/** Ends with the server's own list. */
async function flood({ seed, index, ms = 500 }: Wanted): Promise<string> {
  const random = new Random(seed, index);
  const kinds = [
    announce,
    announce,
    () => notify("notifications/progress", { progressToken: random.below(50), progress: 1, message: "m".repeat(100) }),
    () => notify("notifications/message", { level: "info", data: { text: "l".repeat(random.below(2_000)) } }),
    () => write(JSON.stringify({ jsonrpc: "2.0", id: hostileKey(random), ...hostileQuestion(random, name) })),
  ];
  const send = random.pick(kinds);
  const changes = random.chance(0.7);
  const atOnce = random.pick([1, 10, 100]);
  list = largeList(random);
  const until = performance.now() + ms;
  while (performance.now() < until) {
    for (let each = 0; each < atOnce; each++) send();
    if (changes) announce();
    await Bun.sleep(random.pick([0, 1, 5]));
  }
  list = own;
  announce();
  return '{"content":[]}';
}

async function call(tool: string, wanted: Wanted): Promise<string> {
  switch (tool) {
    case "answer":
      return answer(wanted);
    case "ask":
      return ask(wanted);
    case "flood":
      return flood(wanted);
    default:
      if (tool.startsWith("wipe_")) record(recordFile, name, tool, wanted);
      return '{"content":[{"type":"text","text":"done"}]}';
  }
}

async function resultOf(method: string, params: { name?: string; arguments?: Wanted }): Promise<string> {
  if (method === "initialize") {
    return `{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true},"logging":{}},"serverInfo":{"name":"fuzz","version":"1"}}`;
  }
  if (method === "tools/list") return list;
  return method === "tools/call" && params.arguments ? await call(params.name ?? "", params.arguments) : "{}";
}

function announce(): void {
  write('{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}');
}

function notify(method: string, params: object): void {
  write(JSON.stringify({ jsonrpc: "2.0", method, params }));
}

const out = Bun.stdout.writer();
function write(line: string): void {
  out.write(`${line}\n`);
  void out.flush();
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params = {} } = JSON.parse(line);
  if (id === undefined || method === undefined) continue;
  void resultOf(method, params).then((result) =>
    write(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`),
  );
}
