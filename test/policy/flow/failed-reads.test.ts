/** What a session has read of a call that failed: the words of the server, if there are any. */
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { SessionReads } from "../../../src/policy/flow/session-reads.ts";
import { fixture } from "../../support/servers.ts";
import { type Project, project } from "../../tools/generation/project.ts";

setDefaultTimeout(60_000);

let folder: Project;
beforeEach(() => {
  folder = project();
});
afterEach(() => folder[Symbol.dispose]());

const tools = [{ name: "read", inputSchema: { type: "object" } }];

/** What a call of a labelled tool leaves, and how it ends. */
async function readBy(entry: object, tool: string, more: { signal?: AbortSignal } = {}): Promise<[string, string[]]> {
  folder.configure({ shop: { labels: ["private"], definitions: "trust", ...entry } });
  await using app = await folder.open();
  const reads = new SessionReads();
  const caller = { reads, agent: { name: "", version: "" } };
  const code = await app.pool.callTool("shop", tool, {}, { caller, ...more }).then(
    () => "ok",
    (error: { code: string }) => error.code,
  );
  return [code, reads.all.map(({ source }) => source)];
}

const scripted = (call: object) =>
  fixture(
    "scripted",
    folder.write("script.json", {
      capabilities: { tools: {} },
      answers: { "tools/list": { tools }, "tools/call": call },
    }),
  );

test("a result that says that the tool failed is read", async () => {
  const failed = { content: [{ type: "text", text: "no such customer: Ada" }], isError: true };
  expect(await readBy(scripted(failed), "read")).toEqual(["ok", ["shop.read"]]);
});

test("an error of the protocol is read", async () => {
  expect(await readBy(scripted({ $error: { code: -32_000, message: "no such customer: Ada" } }), "read")).toEqual([
    "TOOL_FAILED",
    ["shop.read"],
  ]);
});

test("an answer that does not come in time is not read", async () => {
  expect(await readBy({ ...scripted({ $never: true }), callTimeoutMs: 300 }, "read")).toEqual(["CALL_TIMEOUT", []]);
});

test("a call that is cancelled has read nothing", async () => {
  expect(await readBy(scripted({ $never: true }), "read", { signal: AbortSignal.timeout(500) })).toEqual([
    "CANCELLED",
    [],
  ]);
});

test("a server that does not start and writes nothing is not read", async () => {
  expect(await readBy({ command: "/bin/false" }, "read")).toEqual(["SERVER_UNAVAILABLE", []]);
  expect(await readBy({ url: "http://127.0.0.1:9/" }, "read")).toEqual(["SERVER_UNAVAILABLE", []]);
});

test("a server that needs a variable is not read", async () => {
  expect(await readBy({ command: "${NO_SUCH_VARIABLE}" }, "read")).toEqual(["NEEDS_VARIABLE", []]);
});

test("a server that dies silently is not read, and one that writes why is", async () => {
  const program = (dying: string) => [
    "-c",
    `while read -r line; do case $line in
      *initialize\\"*) echo '{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}}' ;;
      *tools/call*) ${dying} exit 1 ;;
    esac; done`,
  ];
  const dies = (dying: string) => readBy({ command: "sh", args: program(dying) }, "read");
  expect(await dies("")).toEqual(["SERVER_UNAVAILABLE", []]);
  expect(await dies("echo 'no such customer: Ada' >&2; sleep 0.3;")).toEqual(["SERVER_UNAVAILABLE", ["shop.read"]]);
});
