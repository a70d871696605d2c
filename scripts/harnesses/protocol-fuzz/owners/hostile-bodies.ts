/** Bodies of requests that are large, odd, deep or no JSON at all. */
import type { Random } from "../../random.ts";

const call = (args: string, more = "") =>
  `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"execute_code","arguments":${args}${more}}}`;

const numbered = (count: number, of: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => of(index)).join(",");

const keys = (count: number) => numbered(count, (index) => `"k${index}":${index}`);

const initialize = (capabilities: string) =>
  `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":${capabilities},"clientInfo":{"name":"x","version":"1"}}}`;

const envelope = (capabilities: string) =>
  `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"x","version":"1"},"io.modelcontextprotocol/clientCapabilities":${capabilities}}}}`;

const bodies: readonly ((random: Random) => string | Uint8Array)[] = [
  () => call('{"code":"return 1"}'),
  () => call(`{"code":"return 1",${keys(200_000)}}`),
  () => `{"jsonrpc":"2.0","id":1,"method":"ping","params":{${keys(200_000)}}}`,
  () => `{${keys(200_000)}}`,
  () => envelope(`{"extensions":{${numbered(100_000, (index) => `"e${index}":{}`)}}}`),
  () => initialize(`{"extensions":{${numbered(4_000, (index) => `"e${index}":{}`)}}}`),
  (random) => {
    const depth = random.pick([100, 2_000, 200_000]);
    return call(`{"code":"return 1","deep":${"[".repeat(depth)}${"]".repeat(depth)}}`);
  },
  (random) => `${'{"a":'.repeat(random.pick([1_000, 100_000]))}1`,
  () => call(`{"code":"return 1","list":[${numbered(500_000, () => "[]")}]}`),
  () => call('{"code":"return 1","code":"return 2"}', ',"name":"search_tools"'),
  () => call('{"code":"return 1","__proto__":{"isAdmin":true},"constructor":{"prototype":{}}}'),
  () => '{"__proto__":{"method":"ping"},"jsonrpc":"2.0","id":1}',
  (random) =>
    `[${numbered(random.pick([2, 100, 101, 20_000]), (index) => `{"jsonrpc":"2.0","id":${index},"method":"ping"}`)}]`,
  () => `[[[${call("{}")}]]]`,
  () => Buffer.from([0x7b, 0xff, 0xfe, 0x22, 0xc0, 0x80, 0x22, 0x3a, 0x31, 0x7d]),
  () => Buffer.from(`\ufeff${call('{"code":"return 1"}')}`, "utf16le"),
  () => call(`{"code":"return 1","n":1e999,"m":${"9".repeat(20_000)},"o":-0.${"0".repeat(5_000)}1}`),
  () => `{"jsonrpc":"2.0","id":${"9".repeat(400)},"method":"ping"}`,
  () => `{"jsonrpc":"2.0","id":"${"x".repeat(100_000)}","method":"ping"}`,
  () => `{"jsonrpc":"2.0","id":null,"method":"${"m".repeat(50_000)}"}`,
  () => call(`{"code":${JSON.stringify("\u0000\u202e".repeat(1_000))}}`),
  () => call(`{"resume":"${"0".repeat(50_000)}"}`),
  () => `{"jsonrpc":"2.0","id":1,"result":{${keys(1_000)}}}`,
  () => `{"jsonrpc":"2.0","method":"notifications/${"x".repeat(5_000)}"}`,
  () => "null",
  () => "[]",
  () => `"${"x".repeat(2_000_000)}"`,
  () => `${" ".repeat(1_000_000)}${call("{}")}`,
  () => call(`{"code":"return 1"`),
  () => Buffer.alloc(300_000, 0x5b),
  () => "5\r\nhello\r\n0\r\n\r\nGET /qa HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n",
];

export function hostileBody(random: Random): Uint8Array {
  const body = random.pick(bodies)(random);
  return typeof body === "string" ? Buffer.from(body) : body;
}
