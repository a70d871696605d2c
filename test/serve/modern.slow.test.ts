/** Hosts of MCP 2026-07-28: what `serve` answers, and questions of old and new servers in the middle of a program. */
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { Client } from "@modelcontextprotocol/client";
import { claudikinsCommand } from "../support/command.ts";
import { eventually } from "../support/eventually.ts";
import { type HttpServe, httpServe, sdkHost } from "../support/http-serve.ts";
import { type Answer, modernAnswer, modernRequest, openModernHost } from "../support/modern-host.ts";
import { processesLeft, processesWith } from "../support/process.ts";
import { fixture } from "../support/servers.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary.ts";

setDefaultTimeout(60_000);

let folder: TemporaryFolder;
beforeEach(() => {
  folder = temporaryFolder();
  folder.write("claudikins.json", {
    mcpServers: { older: fixture("protocol", "stdio", folder.path), newer: fixture("modern", "reject", folder.path) },
    // No server starts but for a call.
    surfaceLearns: false,
  });
});
afterEach(async () => {
  expect(await processesLeft(folder.path)).toEqual([]);
  folder[Symbol.dispose]();
});

const capabilities = { sampling: {}, elicitation: { form: {}, url: {} }, roots: {} };
const sampled = { role: "assistant" as const, content: { type: "text" as const, text: "four" }, model: "m" };
const roots = [{ uri: "file:///work", name: "work" }];
const requestedSchema = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };
const form = { message: "Who are you?", requestedSchema };
const page = { mode: "url", message: "Sign in", url: "https://example.com/visit", elicitationId: "7" };
const messages = [{ role: "user", content: { type: "text", text: "2 + 2?" } }];

type Call = (tool: string, args?: object) => Promise<unknown>;

/** For each mode, the value of one tool call. A tool of both servers is named `server.tool` in code. */
const modes: Record<string, (host: Client, server: string) => Call> = {
  code:
    (host, server) =>
    async (tool, args = {}) => {
      const code = `return JSON.stringify({ value: await ${server}[${JSON.stringify(tool)}](${JSON.stringify(args)}) })`;
      const { content } = await host.callTool({ name: "execute_code", arguments: { code } });
      const [{ text = "" } = {}] = content as { text?: string }[];
      return JSON.parse(text.split("\n\n")[0] ?? "").value;
    },
  direct:
    (host) =>
    async (tool, args = {}) => {
      const { content } = await host.callTool({ name: tool, arguments: args as Record<string, unknown> });
      const [{ text = "" } = {}] = content as { text?: string }[];
      return text.startsWith("{") ? JSON.parse(text) : text;
    },
};

describe.each(Object.keys(modes))("%s mode", (mode) => {
  describe.each(["stdio", "http"])("over %s", (way) => {
    /** Runs work with a host, which disconnects after it. Returns what the host was asked. */
    async function asHost(work: (call: (server: string) => Call, host: Client) => Promise<void>): Promise<unknown[]> {
      const asked: unknown[] = [];
      const prepare = (client: Client) => {
        client.setRequestHandler("elicitation/create", ({ params }) => {
          asked.push(params);
          return { action: "accept", ...(params.mode === "url" ? {} : { content: { name: "Ada" } }) };
        });
        client.setRequestHandler("sampling/createMessage", ({ params }) => {
          asked.push(params);
          return sampled;
        });
        client.setRequestHandler("roots/list", () => ({ roots }));
      };
      await using door = way === "http" ? await httpServe(folder, ["--mode", mode]) : undefined;
      const reached = door ? { url: door.url } : { flags: ["--mode", mode] };
      await using host = await openModernHost(folder, { ...reached, capabilities, prepare });
      await work((server) => modes[mode]!(host, server), host);
      return asked;
    }

    test("an old server's questions of every kind come as required input, and its call is not repeated", async () => {
      const asked = await asHost(async (call) => {
        const older = call("older");
        const ask = (method: string, params: object = {}) => older("ask", { method, params });
        expect(await ask("elicitation/create", form)).toEqual({
          result: { action: "accept", content: { name: "Ada" } },
        });
        expect(await ask("elicitation/create", page)).toMatchObject({ result: { action: "accept" } });
        expect(await ask("sampling/createMessage", { messages, maxTokens: 10 })).toMatchObject({ result: sampled });
        expect(await ask("roots/list")).toEqual({ result: { roots } });
      });
      const { elicitationId: _, ...visit } = page;
      expect(asked).toMatchObject([
        { message: "[older] Who are you?", requestedSchema },
        { ...visit, message: "[older] Sign in" },
        { messages, maxTokens: 10 },
      ]);
    });

    test("a new server's questions of every kind do as well", async () => {
      const asked = await asHost(async (call) => {
        const newer = call("newer");
        expect(await newer("greet")).toBe("hello Ada");
        expect(await newer("pair")).toBe("Ada and Ada");
        expect(await newer("visit")).toBe("accept");
        expect(await newer("consult")).toEqual(sampled.content);
        expect(await newer("places")).toBe("file:///work");
      });
      expect(asked.map((each) => Object(each).message)).toEqual([
        "[newer] Who are you?",
        "[newer] First?",
        "[newer] Second?",
        "[newer] Open it",
        undefined,
      ]);
    });

    test("the lists, instructions and errors are those of the mode", async () => {
      await asHost(async (call, host) => {
        expect(host.getProtocolEra()).toBe("modern");
        const names = (await host.listTools()).tools.map(({ name }) => name);
        if (mode === "code") expect(names).toEqual(["search_tools", "execute_code"]);
        else expect(names).toEqual(expect.arrayContaining(["ask", "greet"]));
        expect(host.getInstructions()).toContain("newer");
        await expect(host.callTool({ name: "none" })).rejects.toMatchObject({ code: -32_602 });
        if (mode === "direct") expect(await call("newer")("fail")).toBe("it went wrong");
      });
    });
  });
});

describe.each(["stdio", "http"])("execute_task over %s", (way) => {
  async function asHost(options: object, work: (host: Client) => Promise<void>): Promise<void> {
    const [command, ...args] = [...claudikinsCommand, "demo"];
    folder.write("claudikins.json", { mcpServers: { demo: { command, args } }, executeTask: true });
    await using door = way === "http" ? await httpServe(folder) : undefined;
    await using host = await openModernHost(folder, { ...(door ? { url: door.url } : {}), ...options });
    await work(host);
  }
  const task = { name: "execute_task", arguments: { task: "an order" } };

  test("asks the host's model, and the person for what is missing", async () => {
    const asked: string[] = [];
    const prepare = (client: Client) => {
      client.setRequestHandler("sampling/createMessage", ({ params }) => {
        asked.push("model");
        const answer = JSON.stringify(params).includes("Which option?") ? { choice: "get_order" } : {};
        return { role: "assistant", content: { type: "text", text: JSON.stringify(answer) }, model: "m" };
      });
      client.setRequestHandler("elicitation/create", () => {
        asked.push("person");
        return { action: "accept", content: { order_id: "ord_00042" } };
      });
    };
    await asHost({ capabilities, prepare }, async (host) => {
      const { content } = await host.callTool(task);
      expect(JSON.stringify(content)).toContain("ord_00042");
    });
    expect(asked).toEqual(["model", "model", "person"]);
  });

  test("is listed for every host, and fails if there is no model", async () => {
    await asHost({}, async (host) => {
      const names = (await host.listTools()).tools.map(({ name }) => name);
      expect(names).toEqual(["search_tools", "execute_code", "execute_task"]);
      const { isError, content } = await host.callTool(task);
      expect([isError, JSON.stringify(content)]).toEqual([true, expect.stringContaining("No model is configured")]);
    });
  });
});

describe("raw requests over HTTP", () => {
  let door: HttpServe;
  beforeEach(async () => {
    door = await httpServe(folder);
  });
  afterEach(() => door[Symbol.asyncDispose]());

  const execute = (code: string, more: object = {}, options: object = {}): Promise<Answer> => {
    const params = { name: "execute_code", arguments: { code }, ...more };
    return modernAnswer(door.url, "tools/call", params, { capabilities, ...options });
  };
  const textOf = ({ result }: Answer): string => result?.content?.[0]?.text ?? JSON.stringify(result);
  /** Accepts all questions, each with a name that has the question's words. */
  const accepted = (asked: Record<string, { params?: unknown }> = {}) =>
    Object.fromEntries(
      Object.entries(asked).map(([key, { params }]) => {
        const name = `n-${String(Object(params).message).replace("[newer] ", "")}`;
        return [key, { action: "accept", content: { name } }];
      }),
    );

  test("questions of calls that run together are asked together", async () => {
    const code = "return await Promise.all([newer.greet({}), newer.pair({})])";
    const { result: first } = await execute(code);
    expect(first).toMatchObject({ resultType: "input_required" });
    expect(Object.keys(first?.inputRequests ?? {})).toHaveLength(3);
    const { requestState } = first ?? {};
    const last = await execute(code, { requestState, inputResponses: accepted(first?.inputRequests) });
    expect(textOf(last)).toStartWith('["hello n-Who are you?", "n-First? and n-Second?"]');
    expect(last.result).toMatchObject({ resultType: "complete" });
  });

  test("questions have random keys, whatever a server calls them", async () => {
    const code = "return await Promise.all([newer.pair({}), newer.greet({}), newer.greet({})])";
    const keys = Object.keys((await execute(code)).result?.inputRequests ?? {});
    expect(new Set(keys).size).toBe(4);
    for (const key of keys) expect(key).toMatch(/^claudikins\.[0-9a-f-]{36}$/);
  });

  test("a question that was left out is asked again", async () => {
    const code = "return await newer.pair({})";
    const { result: first } = await execute(code);
    const [[one, question] = ["", {}]] = Object.entries(first?.inputRequests ?? {});
    const { result: second } = await execute(code, {
      requestState: first?.["requestState"],
      inputResponses: { ...accepted({ [one]: question }), other: { action: "cancel" } },
    });
    expect(Object.keys(second?.inputRequests ?? {})).toHaveLength(1);
    const inputResponses = accepted(second?.inputRequests);
    expect(textOf(await execute(code, { requestState: second?.["requestState"], inputResponses }))).toStartWith(
      "n-First? and n-Second?",
    );
  });

  test("the program continues where it stopped: what it did before is done once", async () => {
    const code = `
      const before = await older.seen({});
      globalThis.count = (globalThis.count ?? 0) + 1;
      console.log("once");
      const greeting = await newer.greet({});
      const second = await newer.greet({});
      return { count: globalThis.count, greeting, second, lists: before.lists };`;
    const { result: first } = await execute(code);
    const inputResponses = accepted(first?.inputRequests);
    const { result: second } = await execute(code, { requestState: first?.["requestState"], inputResponses });
    expect(second).toMatchObject({ resultType: "input_required" });
    const last = await execute(code, {
      requestState: second?.["requestState"],
      inputResponses: accepted(second?.inputRequests),
    });
    expect(textOf(last)).toContain('"count": 1');
    expect(textOf(last).split("once")).toHaveLength(2);
  });

  test("a parked program does not keep the process alive", async () => {
    expect((await execute("return await newer.greet({})")).result).toMatchObject({ resultType: "input_required" });
    door.signal("SIGTERM");
    expect(await door.exited).toBe(0);
  });

  test("a state that is wrong, of another request, or used before is refused, and nothing runs", async () => {
    const code = "console.log('ran'); return await newer.greet({})";
    const { result: first } = await execute(code);
    const { requestState, inputRequests } = first ?? {};
    const inputResponses = accepted(inputRequests);
    const refused = async (more: object, source = code, options: object = {}) => {
      const { error } = await execute(source, more, options);
      expect(error).toMatchObject({ code: -32_602, data: { reason: "invalid_request_state" } });
      return error?.message;
    };
    expect(await refused({ requestState: "made up", inputResponses })).toContain("not from this process");
    expect(await refused({ requestState: `${requestState}x`, inputResponses })).toContain("not from this process");
    expect(await refused({ requestState, inputResponses }, "return 1")).toContain("belongs to another request");
    expect(await refused({ requestState, inputResponses }, code, { name: "other" })).toContain("not from this process");
    expect(textOf(await execute(code, { requestState, inputResponses }))).toContain("hello n-Who are you?");
    expect(await refused({ requestState, inputResponses })).toContain("has ended");
  });

  test("the time limit is paused while the user is asked", async () => {
    const code = "return await newer.greet({})";
    const args = { name: "execute_code", arguments: { code, timeout_ms: 1_000 } };
    const ask = (more: object) => modernAnswer(door.url, "tools/call", { ...args, ...more }, { capabilities });
    // The servers run before their time counts.
    await execute(code.replace("greet", "era"));
    const { result: first } = await ask({});
    await Bun.sleep(1_500);
    const inputResponses = accepted(first?.inputRequests);
    expect(textOf(await ask({ requestState: first?.["requestState"], inputResponses }))).toContain("hello");
  });

  test("disconnecting while a call runs cancels it at its server", async () => {
    const cancel = new AbortController();
    const args = { name: "execute_code", arguments: { code: "return await newer.wait({})" } };
    const response = modernRequest(door.url, "tools/call", args, { capabilities, signal: cancel.signal });
    const waiting = async () => textOf(await execute("return await newer.waiting({})")).split("\n")[0];
    await eventually(async () => (await waiting()) === "1");
    cancel.abort();
    // A patient door may have sent the head of its answer already.
    await expect(response.then((each) => each.text())).rejects.toThrow();
    await eventually(async () => (await waiting()) === "0");
  });

  test("a policy that asks for confirmation uses the same way", async () => {
    const config = folder.write("strict.json", {
      mcpServers: { newer: { ...fixture("modern", "reject", folder.path), confirm: { echo: "always" } } },
    });
    await using strict = await httpServe(folder, ["--config", config]);
    const code = 'return await newer.echo({ value: "hello" })';
    const params = { name: "execute_code", arguments: { code } };
    const { result: first } = await modernAnswer(strict.url, "tools/call", params, { capabilities });
    const [key = ""] = Object.keys(first?.inputRequests ?? {});
    expect(Object(first?.inputRequests?.[key]?.params).message).toContain("newer.echo");
    const inputResponses = { [key]: { action: "accept", content: { answer: "once" } } };
    const retry = { ...params, requestState: first?.["requestState"], inputResponses };
    expect(textOf(await modernAnswer(strict.url, "tools/call", retry, { capabilities }))).toStartWith("hello");
  });

  test("a host that names no capability is asked nothing, and the server gets an error", async () => {
    const answer = await execute(
      "return await newer.greet({}).catch((error) => error.message)",
      {},
      { capabilities: {} },
    );
    expect(answer.result).toMatchObject({ resultType: "complete" });
    expect(textOf(answer)).toContain("elicitation");
  });

  test("requests with wrong headers, versions or metadata get the errors of the revision", async () => {
    const list = (headers: object, more: object = {}) =>
      modernAnswer(door.url, "tools/list", more as Record<string, unknown>, {
        headers: headers as Record<string, string>,
      });
    expect(await list({})).toMatchObject({ status: 200, result: { resultType: "complete", cacheScope: "private" } });
    expect(await list({ "mcp-method": "tools/call" })).toMatchObject({ status: 400, error: { code: -32_020 } });
    expect(await list({ "mcp-protocol-version": "2025-11-25" })).toMatchObject({
      status: 400,
      error: { code: -32_020 },
    });
    expect(await modernAnswer(door.url, "tools/nothing")).toMatchObject({ status: 404, error: { code: -32_601 } });
    await using direct = await httpServe(folder, ["--mode", "direct"]);
    const unknown = { status: 404, error: { code: -32_601 } };
    for (const method of ["tools/nothing", "resources/subscribe", "ping", "logging/setLevel"]) {
      expect(await modernAnswer(direct.url, method, { uri: "file:///a", level: "info" })).toMatchObject(unknown);
    }
    const discovered = await modernAnswer(door.url, "server/discover");
    expect(discovered.result).toMatchObject({ supportedVersions: ["2026-07-28"], capabilities: { tools: {} } });
  });

  test("marked arguments must be equal in the headers, in direct mode", async () => {
    await using direct = await httpServe(folder, ["--mode", "direct"]);
    const route = (headers: Record<string, string>, args: object = { options: { shard: 7 } }) =>
      modernAnswer(direct.url, "tools/call", { name: "route", arguments: args }, { headers });
    const refused = { status: 400, error: { code: -32_020 } };
    const answered = { status: 200, result: { structuredContent: { args: { options: { shard: 7 } } } } };
    await modernAnswer(direct.url, "tools/list");
    expect(await route({ "mcp-param-shard": "7" })).toMatchObject(answered);
    expect(await route({ "mcp-param-shard": "8" })).toMatchObject(refused);
    expect(await route({})).toMatchObject(refused);
    expect(await route({}, { rows: 0 })).toMatchObject({ status: 200 });
  });

  test("the lists are the same for every host, in direct mode too", async () => {
    await using direct = await httpServe(folder, ["--mode", "direct"]);
    const { url } = direct;
    for (const method of ["tools/list", "resources/list", "prompts/list", "resources/templates/list"]) {
      const [first, second, third] = await Promise.all([
        modernAnswer(url, method, {}, { capabilities }),
        modernAnswer(url, method, {}, { name: "other" }),
        modernAnswer(url, method),
      ]);
      expect(first.result).toMatchObject({ resultType: "complete", cacheScope: "private", ttlMs: 0 });
      expect([second.result, third.result]).toEqual([first.result, first.result]);
    }
  });

  test("capabilities that nobody knows start no further servers", async () => {
    const started = () => processesWith(folder.path).length;
    const ask = (capability: object) =>
      execute(
        "return await newer.greet({})",
        {},
        {
          capabilities: { elicitation: { form: capability }, experimental: capability },
        },
      );
    const answers = [await ask({})];
    const before = started();
    answers.push(...(await Promise.all(["a", "b", "c"].map((name) => ask({ [name]: {} })))));
    expect(answers.map(({ result }) => result?.["resultType"])).toEqual(answers.map(() => "input_required"));
    expect(started()).toBe(before);
  });

  test("pages that an old server names in an error are asked for in direct mode, and the call is sent again", async () => {
    await using direct = await httpServe(folder, ["--mode", "direct"]);
    const call = (more: object = {}) =>
      modernAnswer(direct.url, "tools/call", { name: "needs-page", arguments: {}, ...more }, { capabilities });
    const { result } = await call();
    const urls = Object.values(result?.inputRequests ?? {}).map(({ params }) => Object(params).url);
    expect(urls).toEqual(["https://example.com/sign-in", "https://example.com/pay"]);
    const inputResponses = accepted(result?.inputRequests);
    const { error } = await call({ requestState: result?.["requestState"], inputResponses });
    expect(error).toMatchObject({ code: -32_600, message: expect.stringContaining("page to be opened") });
  });

  test("programs that wait for a person leave room for others", async () => {
    const waiting = await Promise.all(Array.from({ length: 16 }, () => execute("return await newer.greet({})")));
    expect(waiting.map(({ result }) => result?.["resultType"])).toEqual(waiting.map(() => "input_required"));
    expect(textOf(await execute("return 1 + 1"))).toStartWith("2");
  });

  test("one address serves both eras at once, each client with processes of its own", async () => {
    const started = () => processesWith(folder.path).length;
    const before = started();
    await execute("return await newer.era({})");
    await execute("return await newer.era({})", {}, { name: "second" });
    expect(started() - before).toBe(2);
    await using older = await sdkHost(door.url);
    expect(await older.execute("return await newer.era({})")).toBe("modern");
    await execute("return await newer.era({})");
    // A host that cannot be asked anything shares its servers with others like it.
    expect(started() - before).toBe(3);
  });
});
