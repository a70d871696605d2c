/** Large lists that are asked for together delay no other answer on stdin and stdout, in both eras of the protocol. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { ownFolder } from "../../support/own-folder.ts";
import { rawStdio } from "../../support/raw-stdio.ts";
import { fixture } from "../../support/servers.ts";

setDefaultTimeout(60_000);

const folder = ownFolder({ endsProcesses: true });

/** Nearly a megabyte. */
const tools = Array.from({ length: 1_000 }, (_, at) => ({
  name: `tool_${at}`,
  description: "d".repeat(850),
  inputSchema: { type: "object" },
}));

const clientInfo = { name: "test", version: "1" };

test.each([
  ["2025", { method: "initialize", params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo } }, "ping"],
  ["2026", { method: "server/discover", params: {} }, "server/discover"],
])("a small request is answered between the lists in the era %s", async (_, first, small) => {
  folder.write("claudikins.json", { mcpServers: { many: fixture("from-file", join(folder.path, "tools.json")) } });
  folder.write("tools.json", JSON.stringify(tools));
  await using serve = rawStdio(folder, {}, { flags: ["--mode", "direct", "--trust", "--no-daemon"] });
  await serve.ask(first.method, first.params);
  const { result } = await serve.ask("tools/list", {});
  expect(result!["tools"]).toHaveLength(1_000);
  const order: string[] = [];
  const noting = async (name: string, answer: Promise<unknown>) => void (await answer.then(() => order.push(name)));
  const lists = Array.from({ length: 6 }, () => serve.ask("tools/list", {}));
  const all = lists.map((list, at) => noting(`list ${at}`, list));
  await lists[0];
  await Promise.all([...all, noting("small", serve.ask(small, {}))]);
  expect(order).toHaveLength(7);
  expect(order.indexOf("small")).toBeLessThan(6);
});
