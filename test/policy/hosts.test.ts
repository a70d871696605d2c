/** The calls that hosts of `serve` may make, over stdio and HTTP, in code mode and direct mode, and the person who is asked. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import type { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { type ClientCapabilities, ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { Approvals } from "../../src/policy/approvals/approvals.ts";
import { eventually } from "../support/eventually.ts";
import { failedRequest, type HostOptions, openHost, type TestHost } from "../support/host.ts";
import { httpServe, sdkHost } from "../support/http-serve.ts";
import { ownFolder } from "../support/own-folder.ts";
import { testEnvironment } from "../support/process.ts";
import { fixture } from "../support/servers.ts";

setDefaultTimeout(60_000);

const folder = ownFolder({ endsProcesses: true });

const configure = (keys: object, more: object = {}) => {
  const rec = { ...fixture("recording", join(folder.path, "got.jsonl")), ...keys };
  folder.write("claudikins.json", { mcpServers: { rec }, ...more });
};

/** The calls that the server received. */
const got = () => {
  const file = join(folder.path, "got.jsonl");
  if (!existsSync(file)) return [];
  return readFileSync(file, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
};

type Answer = { action: "accept" | "decline" | "cancel"; content?: { answer: string } };
const yes = (answer: string): Answer => ({ action: "accept", content: { answer } });

/** A person who gives these answers, and the questions. */
function person(answer: (message: string, signal: AbortSignal) => Answer | Promise<Answer>) {
  const asked: string[] = [];
  const prepare = (client: Client) =>
    client.setRequestHandler(ElicitRequestSchema, ({ params }, { signal }) => {
      asked.push(params.message);
      return answer(params.message, signal);
    });
  const capabilities: ClientCapabilities = { elicitation: {} };
  return { asked, prepare, capabilities };
}

async function execute({ call }: TestHost, code: string, more: object = {}): Promise<string> {
  const { content } = await call("execute_code", { code, ...more });
  return (content as { text: string }[])[0]!.text;
}

describe("code mode over stdio", () => {
  test("calls after consent, and does not ask again after consent for the session", async () => {
    configure({ confirm: "destructive" });
    const answers = [yes("once"), yes("session")];
    const { asked, ...options } = person(() => answers.shift()!);
    await using host = await openHost(folder, options);
    const code = "return rec.remove_it({ id: 1 })";
    for (let round = 0; round < 4; round++) expect(await execute(host, code)).toStartWith("did remove-it");
    expect(asked).toHaveLength(2);
    expect(asked[0]).toContain('"id": 1');
    expect(got()).toHaveLength(4);
  });

  test("does not call if the person refuses", async () => {
    configure({ confirm: "always" });
    const { asked, ...options } = person(() => ({ action: "decline" }));
    await using host = await openHost(folder, options);
    expect(await execute(host, "return rec.remove_it({})")).toContain(
      "rec.remove-it was not called: the person said no",
    );
    expect(asked).toHaveLength(1);
    expect(got()).toEqual([]);
  });

  test("does not call if the host has no elicitation and approvals do not wait", async () => {
    configure({ confirm: "always" }, { approvals: { wait: false } });
    await using host = await openHost(folder);
    expect(await execute(host, "return rec.remove_it({})")).toContain(
      'set "confirm": { "*": "always", "remove-it": "never" } in mcpServers.rec of the config',
    );
    expect(got()).toEqual([]);
  });

  test("pauses the time limit during the question", async () => {
    configure({ confirm: "always" });
    const { prepare, capabilities } = person(async () => {
      await Bun.sleep(3_500);
      return yes("once");
    });
    await using host = await openHost(folder, { prepare, capabilities });
    expect(await execute(host, "return rec.remove_it({})", { timeout_ms: 3_000 })).toStartWith("did remove-it");
  });

  test("cancels the question with the execution", async () => {
    configure({ confirm: "always" });
    const questioned = Promise.withResolvers<void>();
    const gone = Promise.withResolvers<void>();
    const { asked, ...options } = person(async (_, signal) => {
      signal.addEventListener("abort", () => gone.resolve(), { once: true });
      questioned.resolve();
      await gone.promise;
      return yes("once");
    });
    await using host = await openHost(folder, options);
    const controller = new AbortController();
    const code = "return Promise.all([1, 2, 3].map((id) => rec.remove_it({ id })))";
    const params = { name: "execute_code", arguments: { code } };
    const running = host.request("tools/call", params, { signal: controller.signal }).catch(() => "cancelled");
    await questioned.promise;
    controller.abort();
    expect(await running).toBe("cancelled");
    await gone.promise;
    expect(await execute(host, "return 1")).toStartWith("1");
    expect(asked).toHaveLength(1);
    expect(got()).toEqual([]);
  });
});

describe("direct mode", () => {
  const direct = { mode: "direct" };
  const names = (list: unknown) => (list as { name: string }[]).map(({ name }) => name);

  test("does not list or call denied tools", async () => {
    configure({ deny: ["remove-*"] }, { ...direct, policy: { deny: ["rec.lie"] } });
    await using host = await openHost(folder);
    expect(names((await host.request("tools/list"))["tools"])).toEqual(["add-it", "odd", "plain-it", "read-it"]);
    for (const name of ["remove-it", "lie", "rec__remove-it", "rec_lie"]) {
      const { message } = await failedRequest(host.call(name, { id: 1 }));
      expect(message).toStartWith(`Unknown tool: ${name}.`);
      expect(message.slice(message.indexOf(".") + 1)).not.toMatch(/remove|lie/);
    }
    expect(await host.call("read-it", { id: 2 })).toMatchObject({ content: [{ text: "did read-it" }] });
    expect(got()).toEqual([{ name: "read-it", args: { id: 2 } }]);
  });

  test.each([
    ["says yes", yes("once"), undefined],
    ["says no", yes("no"), "rec.remove-it was not called: the person said no"],
    ["declines", { action: "decline" } as const, "rec.remove-it was not called: the person said no"],
  ])("asks about a tool, and the person %s", async (_, answer, refusal) => {
    configure({ confirm: "destructive" }, direct);
    const { asked, ...options } = person(() => answer);
    await using host = await openHost(folder, options);
    await host.request("tools/list");
    const result = await host.call("remove-it", { id: 1 });
    expect(asked).toHaveLength(1);
    expect(asked[0]).toContain('"id": 1');
    expect(result["isError"] === true).toBe(refusal !== undefined);
    // A program of the host reads the code.
    expect(JSON.stringify(result)).toContain(refusal === undefined ? "did remove-it" : `"POLICY_DENIED: ${refusal}`);
    expect(got()).toHaveLength(refusal ? 0 : 1);
    await host.call("read-it");
    expect(asked).toHaveLength(1);
  });

  test("refuses a tool that needs confirmation if the host has no elicitation and approvals do not wait", async () => {
    configure({ confirm: "destructive" }, { ...direct, approvals: { wait: false } });
    await using host = await openHost(folder);
    await host.request("tools/list");
    const result = await host.call("remove-it");
    expect(result["isError"]).toBe(true);
    expect(JSON.stringify(result)).toContain("POLICY_DENIED: rec.remove-it needs a person's confirmation");
    expect(got()).toEqual([]);
  });

  describe("a call that waits for approval", () => {
    const approvals = () => new Approvals({ env: testEnvironment({ XDG_DATA_HOME: `${folder.path}/data` }) });
    const pending =
      /^APPROVAL_PENDING: rec\.remove-it was not called: it waits for approval (\w+)\nHint: .*claudikins approvals/;
    /** The id of the approval that the error names. */
    const waits = async (host: TestHost, args: object) => {
      const { isError, content } = await host.call("remove-it", args);
      expect(isError).toBe(true);
      return pending.exec((content as { text: string }[])[0]!.text)![1]!;
    };
    const done = { content: [{ type: "text", text: "did remove-it" }] };
    const open = async (options: HostOptions = {}) => {
      configure({ confirm: "destructive" }, direct);
      const host = await openHost(folder, options);
      await host.request("tools/list");
      return host;
    };
    const cancels = person(() => ({ action: "cancel" }));

    test.each<[string, HostOptions]>([
      ["has no elicitation", {}],
      ["cancels every question", { prepare: cancels.prepare, capabilities: cancels.capabilities }],
    ])("is an error with the id if the host %s, and each approval counts for one equal call", async (_, options) => {
      await using host = await open(options);
      await using queue = approvals();
      const id = await waits(host, { id: 1 });
      // The question stays the same until it is decided.
      expect(await waits(host, { id: 1 })).toBe(id);
      expect(await queue.open()).toMatchObject([{ id, server: "rec", tool: "remove-it", line: null }]);
      await queue.decide(id, { state: "approved", scope: "once", by: "command" });
      const other = await waits(host, { id: 2 });
      expect(other).not.toBe(id);
      expect(got()).toEqual([]);
      expect(await host.call("remove-it", { id: 1 })).toEqual(done);
      const again = await waits(host, { id: 1 });
      expect([id, other]).not.toContain(again);
      expect(got()).toEqual([{ name: "remove-it", args: { id: 1 } }]);
    });

    test("is not called twice by two equal calls at once after one approval", async () => {
      await using host = await open();
      await using queue = approvals();
      const id = await waits(host, {});
      await queue.decide(id, { state: "approved", scope: "once", by: "command" });
      const results = await Promise.all([host.call("remove-it", {}), host.call("remove-it", {})]);
      expect(results.filter(({ isError }) => isError === true)).toHaveLength(1);
      expect(got()).toHaveLength(1);
    });

    test("fails with POLICY_DENIED after a denial, and works without questions after an approval for the session", async () => {
      await using host = await open();
      await using queue = approvals();
      await queue.decide(await waits(host, { id: 1 }), { state: "denied", by: "command" });
      expect(await host.call("remove-it", { id: 1 })).toMatchObject({
        isError: true,
        content: [{ text: expect.stringContaining("POLICY_DENIED: rec.remove-it was not called: the person said no") }],
      });
      const id = await waits(host, { id: 2 });
      await queue.decide(id, { state: "approved", scope: "session", by: "command" });
      for (const args of [{ id: 2 }, { id: 3 }]) expect(await host.call("remove-it", args)).toEqual(done);
      expect(got()).toHaveLength(2);
    });

    test("over HTTP belongs to its session, and is withdrawn with it", async () => {
      configure({ confirm: "destructive" }, direct);
      await using serve = await httpServe(folder);
      await using queue = approvals();
      await using other = await openHost(folder, { url: serve.url });
      const first = await openHost(folder, { url: serve.url });
      const id = await waits(first, {});
      await queue.decide(id, { state: "approved", scope: "session", by: "command" });
      const own = await waits(other, {});
      expect(own).not.toBe(id);
      expect(await first.call("remove-it", {})).toEqual(done);
      expect(await queue.open()).toMatchObject([{ id: own }]);
      await (other.client.transport as unknown as StreamableHTTPClientTransport).terminateSession();
      await eventually(async () => (await queue.open()).length === 0);
    });
  });

  test("lists nothing of a server that is denied as a whole", async () => {
    configure({ deny: ["*"] }, direct);
    await using host = await openHost(folder);
    expect(await host.request("tools/list")).toEqual({ tools: [] });
    expect(await host.request("resources/list")).toEqual({ resources: [] });
    expect(await host.request("resources/templates/list")).toEqual({ resourceTemplates: [] });
    expect(await host.request("prompts/list")).toEqual({ prompts: [] });
    await failedRequest(host.request("resources/read", { uri: "it://a" }));
    await failedRequest(host.request("prompts/get", { name: "ask" }));
    expect(got()).toEqual([]);
  });
});

test("over HTTP each session has its own person, whose consent does not apply to other sessions", async () => {
  configure({ confirm: "always" }, { approvals: { wait: false } });
  await using serve = await httpServe(folder);
  const [one, other] = [person(() => yes("session")), person(() => yes("no"))];
  await using first = await sdkHost(serve.url, one.capabilities, { prepare: one.prepare });
  await using second = await sdkHost(serve.url, other.capabilities, { prepare: other.prepare });
  await using nobody = await sdkHost(serve.url);
  await using nobodyElse = await sdkHost(serve.url);
  const code = "return rec.remove_it({})";
  for (let round = 0; round < 2; round++) {
    expect(await first.execute(code)).toBe("did remove-it");
    expect(await second.execute(code)).toContain("the person said no");
    expect(await nobody.execute(code)).toContain("nobody can be asked here");
    expect(await nobodyElse.execute(code)).toContain("nobody can be asked here");
  }
  expect([one.asked.length, other.asked.length]).toEqual([1, 2]);
  expect(got()).toHaveLength(2);
});
