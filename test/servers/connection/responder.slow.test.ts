/** Requests of servers are passed on if the agent supports them, refused if not, and cancelled when the answer is not needed. */
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { ClaudikinsError } from "../../../src/base/errors.ts";
import type { Log } from "../../../src/base/log.ts";
import { defaultServerTimes } from "../../../src/config/defaults.ts";
import type { Responder } from "../../../src/servers/connection/responder.ts";
import { Pool } from "../../../src/servers/pool.ts";
import { toolValue } from "../../../src/servers/result.ts";
import { networkFixture } from "../../support/network.ts";
import { processesLeft } from "../../support/process.ts";
import { fixture } from "../../support/servers.ts";
import { type TemporaryFolder, temporaryFolder } from "../../support/temporary.ts";

// Processes start slowly on a small machine.
setDefaultTimeout(60_000);

let folder: TemporaryFolder;
let pool: Pool;
let logged: string[];
beforeEach(() => {
  folder = temporaryFolder();
  logged = [];
});
afterEach(async () => {
  await pool.close();
  expect(await processesLeft(folder.path)).toEqual([]);
  folder[Symbol.dispose]();
});

/** A pool with the server "asker", which starts with the first call. */
function open(host?: Partial<Responder>, entry: object = {}): Pool {
  const { PATH = "" } = process.env;
  const defaults = { args: [], env: {}, headers: {}, disabled: false, ...defaultServerTimes, needs: [] };
  const { command, args } = fixture("protocol", "stdio", folder.path);
  const way = "url" in entry ? { transport: "http" } : { command, args };
  const server = { ...defaults, ...way, ...entry, name: "asker" };
  const say = (line: string) => void logged.push(line);
  const log: Log = { debug() {}, info() {}, warn: say };
  pool = new Pool(new Map([["asker", server as never]]), { env: { PATH }, cwd: folder.path, log });
  if (host) pool.setHost({ responder: { capabilities: {}, ...host } });
  return pool;
}

async function call(tool: string, args: object = {}, options = {}): Promise<unknown> {
  const value = toolValue(await pool.callTool("asker", tool, args, options), tool);
  return "json" in value ? JSON.parse(value.json) : value;
}

const ask = (method: string, params: object = {}, options = {}) => call("ask", { method, params }, options);

const answer = { role: "assistant", content: { type: "text", text: "four" }, model: "m" } as const;
const question = { messages: [{ role: "user", content: { type: "text", text: "2 + 2?" } }], maxTokens: 10 };
const form = {
  message: "Who are you?",
  requestedSchema: {
    type: "object",
    properties: {
      name: { type: "string", default: "nobody" },
      age: { type: "integer" },
      member: { type: "boolean", default: false },
    },
    required: ["name"],
  },
};
const page = { mode: "url", message: "Sign in", url: "https://example.com/sign-in", elicitationId: "7" };
const everything = { sampling: { tools: {} }, elicitation: { form: {}, url: {} }, roots: { listChanged: true } };

/** A host that answers everything, and the requests that it got. */
function answering() {
  const asked: unknown[] = [];
  const elicited = Promise.withResolvers<string>();
  const host: Partial<Responder> = {
    capabilities: everything,
    sample: async (params, { server }) => {
      asked.push({ server, params });
      return answer;
    },
    elicit: async (params, { server }) => {
      asked.push({ server, params });
      return { action: "accept", content: { age: 3, member: true } };
    },
    listRoots: async ({ server }) => {
      asked.push({ server });
      return { roots: [{ uri: "file:///work" }] };
    },
    elicited: elicited.resolve,
  };
  return { host, asked, elicited: elicited.promise };
}

describe.each(["stdio", "http"])("over %s", (way) => {
  test("requests go to a host with the capabilities, with the name of the server", async () => {
    await using server =
      way === "http" ? await networkFixture("http", { program: "protocol", args: [folder.path] }) : undefined;
    const { host, asked, elicited } = answering();
    open(host, server ? { url: `http://127.0.0.1:${server.port}/` } : {});
    expect(await call("capabilities")).toEqual({
      ...everything,
      elicitation: { form: { applyDefaults: true }, url: {} },
    });
    expect(await ask("sampling/createMessage", { ...question, systemPrompt: "Be brief." })).toEqual({ result: answer });
    // Values that the person left out get the form's defaults.
    expect(await ask("elicitation/create", form)).toEqual({
      result: { action: "accept", content: { name: "nobody", age: 3, member: true } },
    });
    expect(await ask("elicitation/create", page)).toMatchObject({ result: { action: "accept" } });
    expect(await ask("roots/list")).toEqual({ result: { roots: [{ uri: "file:///work" }] } });
    await call("notify", { method: "notifications/elicitation/complete", params: { elicitationId: "7" } });
    const _meta = { "claudikins/server": "asker" };
    expect(asked).toEqual([
      { server: "asker", params: { ...question, systemPrompt: "Be brief.", _meta } },
      { server: "asker", params: { ...form, mode: "form", message: "[asker] Who are you?", _meta } },
      { server: "asker", params: { ...page, message: "[asker] Sign in", elicitationId: "asker:7", _meta } },
      { server: "asker" },
    ]);
    expect(await elicited).toBe("asker:7");
    expect(logged).toEqual([]);
  });

  test("a capability that the host declares without being able to answer is not declared", async () => {
    open({ capabilities: everything });
    expect(await call("capabilities")).toEqual({});
  });

  test("without a host no capabilities are declared, and requests are refused with a reason", async () => {
    await using server =
      way === "http" ? await networkFixture("http", { program: "protocol", args: [folder.path] }) : undefined;
    open(undefined, server ? { url: `http://127.0.0.1:${server.port}/` } : {});
    expect(await call("capabilities")).toEqual({});
    const answers = [];
    for (const method of ["sampling/createMessage", "elicitation/create", "roots/list", "made/up", "constructor"])
      answers.push(await ask(method));
    expect(answers).toMatchInlineSnapshot(`
      [
        {
          "error": {
            "code": -32601,
            "message": "MCP error -32601: claudikins: the host does not support sampling",
          },
        },
        {
          "error": {
            "code": -32601,
            "message": "MCP error -32601: claudikins: the host does not support elicitation",
          },
        },
        {
          "error": {
            "code": -32601,
            "message": "MCP error -32601: claudikins: the host does not support roots",
          },
        },
        {
          "error": {
            "code": -32601,
            "message": "MCP error -32601: claudikins does not support the method "made/up"",
          },
        },
        {
          "error": {
            "code": -32601,
            "message": "MCP error -32601: claudikins does not support the method "constructor"",
          },
        },
      ]
    `);
    expect(logged).toMatchInlineSnapshot(`
      [
        "asker: its sampling/createMessage failed: claudikins: the host does not support sampling",
        "asker: its elicitation/create failed: claudikins: the host does not support elicitation",
        "asker: its roots/list failed: claudikins: the host does not support roots",
      ]
    `);
  });
});

test("requests are refused for each capability that the host lacks", async () => {
  const { host } = answering();
  open({ ...host, capabilities: { sampling: {}, elicitation: { form: {} } } });
  expect(await call("capabilities")).toEqual({ sampling: {}, elicitation: { form: { applyDefaults: true } } });
  const tools = [{ name: "t", inputSchema: { type: "object" } }];
  const answers = [
    await ask("sampling/createMessage", { ...question, tools }),
    await ask("elicitation/create", page),
    await ask("roots/list"),
  ];
  expect(answers).toMatchInlineSnapshot(`
    [
      {
        "error": {
          "code": -32602,
          "message": "MCP error -32602: claudikins: the host does not support sampling with tools",
        },
      },
      {
        "error": {
          "code": -32602,
          "message": "MCP error -32602: claudikins: the host does not support URL elicitation",
        },
      },
      {
        "error": {
          "code": -32601,
          "message": "MCP error -32601: claudikins: the host does not support roots",
        },
      },
    ]
  `);
});

test("a host with elicitation only by URL gets no forms", async () => {
  const { host, asked } = answering();
  open({ ...host, capabilities: { elicitation: { url: {} } } });
  expect(await call("capabilities")).toEqual({ elicitation: { url: {} } });
  expect(await ask("elicitation/create", form)).toMatchInlineSnapshot(`
    {
      "error": {
        "code": -32602,
        "message": "MCP error -32602: claudikins: the host does not support form elicitation",
      },
    }
  `);
  expect(asked).toEqual([]);
});

test("invalid, large and non-web requests do not reach the host", async () => {
  const { host, asked } = answering();
  open(host);
  const answers = [
    await ask("sampling/createMessage", { maxTokens: 1 }),
    await ask("elicitation/create", { ...form, requestedSchema: "text" }),
    await ask("elicitation/create", { ...form, message: "x".repeat(200_000) }),
    await ask("elicitation/create", { ...page, url: "javascript:alert(1)" }),
  ];
  expect(answers).toMatchInlineSnapshot(`
    [
      {
        "error": {
          "code": -32602,
          "message": "MCP error -32602: claudikins: invalid sampling/createMessage: params.messages: Invalid input: expected array, received undefined",
        },
      },
      {
        "error": {
          "code": -32602,
          "message": "MCP error -32602: claudikins: invalid elicitation/create: params.requestedSchema: Invalid input: expected object, received string",
        },
      },
      {
        "error": {
          "code": -32602,
          "message": "MCP error -32602: claudikins: this elicitation/create is too large to pass on",
        },
      },
      {
        "error": {
          "code": -32602,
          "message": "MCP error -32602: claudikins: only http and https addresses are passed on",
        },
      },
    ]
  `);
  expect(asked).toEqual([]);
});

test("texts for the person contain no control characters", async () => {
  const { host, asked } = answering();
  open(host);
  await ask("elicitation/create", { ...form, message: "one\u001b[2K\r[other] two\nthree" });
  expect(asked).toMatchObject([{ params: { message: "[asker] one\\u001b[2K\\u000d[other] two\nthree" } }]);
});

test("answers of the host are validated, and its errors are passed on", async () => {
  const errors = [
    Object.assign(new Error("MCP error -1: User rejected sampling request"), { code: -1 }),
    new Error("closed"),
  ];
  open({
    capabilities: everything,
    sample: () => Promise.reject(errors.shift()),
    elicit: async () => ({ action: "maybe" }) as never,
    listRoots: async () => ({ roots: [{ uri: "http://no.file" }] }),
  });
  const answers = [
    await ask("sampling/createMessage", question),
    await ask("sampling/createMessage", question),
    await ask("elicitation/create", form),
    await ask("roots/list"),
  ];
  expect(answers).toMatchInlineSnapshot(`
    [
      {
        "error": {
          "code": -1,
          "message": "MCP error -1: User rejected sampling request",
        },
      },
      {
        "error": {
          "code": -32603,
          "message": "MCP error -32603: closed",
        },
      },
      {
        "error": {
          "code": -32603,
          "message": "MCP error -32603: claudikins: the host's elicitation answer is invalid: action: Invalid option: expected one of "accept"|"decline"|"cancel"",
        },
      },
      {
        "error": {
          "code": -32603,
          "message": "MCP error -32603: claudikins: the host's roots answer is invalid: roots.0.uri: Invalid string: must start with "file://"",
        },
      },
    ]
  `);
});

describe("a request that the host does not answer", () => {
  /** A host that does not answer; `asked` resolves with the signal of the request. */
  function silent() {
    const asked = Promise.withResolvers<AbortSignal>();
    const aborted = Promise.withResolvers<void>();
    const elicit: Responder["elicit"] = (_, { signal }) => {
      asked.resolve(signal);
      signal.addEventListener("abort", () => aborted.resolve());
      return new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(new Error("aborted"))));
    };
    open({ capabilities: everything, elicit });
    return { asked: asked.promise, aborted: aborted.promise };
  }

  test("is cancelled when the server cancels it", async () => {
    const { asked, aborted } = silent();
    // The signal of the pool must not be the cause.
    const end = new AbortController();
    const other = call("wait", { ms: 60_000 }, { signal: end.signal }).catch(() => {});
    const asking = ask("elicitation/create", form);
    await asked;
    await call("cancel");
    await aborted;
    end.abort();
    await other;
    expect(await asking).toMatchObject({ error: { message: expect.stringContaining("changed my mind") } });
  });

  test("is cancelled when the server dies", async () => {
    const { asked, aborted } = silent();
    const asking = ask("elicitation/create", form).catch((error) => error.code);
    await asked;
    await call("exit").catch(() => {});
    await aborted;
    expect(await asking).toBe("SERVER_UNAVAILABLE");
  });

  test("is cancelled when the call that caused it ends", async () => {
    const { asked, aborted } = silent();
    const cancel = new AbortController();
    const asking = ask("elicitation/create", form, { signal: cancel.signal }).catch((error) => error.code);
    await asked;
    cancel.abort();
    await aborted;
    expect(await asking).toBe("CANCELLED");
  });

  test("is cancelled when claudikins ends", async () => {
    const { asked, aborted } = silent();
    const asking = ask("elicitation/create", form).catch((error) => error.code);
    await asked;
    await pool.close();
    await aborted;
    expect(await asking).toBe("CANCELLED");
  });

  test("pauses the time limits of calls to that server", async () => {
    const asked = Promise.withResolvers<void>();
    const reply = Promise.withResolvers<void>();
    const elicit = async () => {
      asked.resolve();
      await reply.promise;
      return { action: "decline" as const };
    };
    open({ capabilities: everything, elicit });
    await call("wait", { ms: 0 });
    let held = 0;
    const clock = { hold: () => void held++, release: () => void held-- };
    const asking = ask("elicitation/create", form, { timeoutMs: 2_000, clock });
    await asked.promise;
    // This call starts meanwhile, and takes longer than its time limit.
    expect(await call("wait", { ms: 2_500 }, { timeoutMs: 300 })).toBe("waited");
    expect(held).toBe(1);
    reply.resolve();
    expect(await asking).toEqual({ result: { action: "decline" } });
    expect(held).toBe(0);
    await expect(call("wait", { ms: 20_000 }, { timeoutMs: 300 })).rejects.toMatchObject({ code: "CALL_TIMEOUT" });
  });

  test("is one of at most sixteen concurrent requests", async () => {
    const { asked } = silent();
    const all = Array.from({ length: 17 }, () => ask("elicitation/create", form));
    await asked;
    expect(await Promise.race(all)).toMatchInlineSnapshot(`
      {
        "error": {
          "code": -32600,
          "message": "MCP error -32600: claudikins: this server already has 16 open requests",
        },
      }
    `);
    await call("cancel");
    await Promise.all(all);
  });
});

test("a request outside of any call is answered too", async () => {
  const { host, asked } = answering();
  const { promise, resolve } = Promise.withResolvers<void>();
  open({
    ...host,
    sample: async () => {
      asked.push("sampled");
      resolve();
      return answer;
    },
  });
  expect(await call("ask-later", { method: "sampling/createMessage", params: question })).toBe("asked");
  await promise;
});

test("a call that needs a person in a browser fails with the address of the page", async () => {
  open();
  const failed = call("needs-page").then(
    () => undefined,
    (error: ClaudikinsError) => error,
  );
  const { code, message, hint } = (await failed) ?? {};
  expect({ code, message, hint }).toMatchInlineSnapshot(`
    {
      "code": "TOOL_FAILED",
      "hint": "Ask a person to open https://example.com/sign-in and https://example.com/pay, then call again.",
      "message": "asker.needs-page: sign in first",
    }
  `);
});

test("servers are notified of changed roots if they were promised it", async () => {
  const { host } = answering();
  open(host);
  await call("wait", { ms: 0 });
  pool.rootsChanged();
  await call("wait", { ms: 0 });
  expect(await call("seen")).toMatchObject({ rootsChanged: 1 });
  await pool.close();
  open({ ...host, capabilities: { roots: {} } });
  await call("wait", { ms: 0 });
  pool.rootsChanged();
  expect(await call("seen")).toMatchObject({ rootsChanged: 0 });
});

test("no server gets the host's context, which would be that of other servers", async () => {
  const { host, asked } = answering();
  open({ ...host, capabilities: { ...everything, sampling: { tools: {}, context: {} } } });
  expect(await call("capabilities")).toMatchObject({ sampling: { tools: {} } });
  expect(((await call("capabilities")) as { sampling: object }).sampling).not.toHaveProperty("context");
  for (const includeContext of ["allServers", "thisServer", "none"]) {
    await ask("sampling/createMessage", { ...question, includeContext });
  }
  expect(asked.length).toBe(3);
  expect(JSON.stringify(asked)).not.toContain("includeContext");
  expect(JSON.stringify(asked)).not.toContain('Server"');
});

describe("a page that a server wants opened", () => {
  const opened = async (url: string) => {
    const { host, asked } = answering();
    open(host);
    const answered = (await ask("elicitation/create", { ...page, url })) as { error?: { message: string } };
    const [first] = asked as { params: { url: string; message: string } }[];
    return { refused: answered.error?.message, params: first?.params };
  };

  test.each([
    "https://bank.example@evil.example/",
    "https://bank.example:443@evil.example/",
    "https://@evil.example/",
    "https://bank.example%40evil.example/",
    "https://bank.example%2eevil.example/",
    "https:\\\\evil.example/",
    "https://evil.example\\@bank.example/",
    "https:evil.example",
    "https:///evil.example",
    " https://evil.example/",
    "https://bank.example\n.evil.example/",
    "https://bank.example\u0000.evil.example/",
    "https://bank.example\u202e/moc.live//",
    "https://bank.example\u200b.evil.example/",
    "https://bank.example\u3000@evil.example/",
    "https://bank.example\uff0f@evil.example/",
    "https://bank.example\uff20evil.example/",
    "https://bank.example\u2044.evil.example@x/",
    "file:///etc/passwd",
    "data:text/html,x",
    "vscode://evil/x",
    "ftp://evil.example/",
    "javascript:alert(1)//https://bank.example",
    "https://",
  ])("is refused if its address is deceptive: %j", async (url) => {
    const { refused, params } = await opened(url);
    expect(refused).toContain("claudikins: ");
    expect(params).toBeUndefined();
  });

  test.each([
    ["https://example.com/@user?to=a@b#c", "https://example.com/@user?to=a@b#c"],
    ["HTTPS://EXAMPLE.com:443/a b".replace(" ", "%20"), "https://example.com/a%20b"],
    ["http://2130706433:8080/", "http://127.0.0.1:8080/"],
    ["https://example.com/gr\u00fc\u00dfe", "https://example.com/gr%C3%BC%C3%9Fe"],
  ])("is shown with the address as a browser reads it: %j", async (url, shown) => {
    expect((await opened(url)).params).toMatchObject({ url: shown, message: "[asker] Sign in" });
  });

  test.each([
    ["https://\u0430pple.com/", "xn--pple-43d.com"],
    ["https://xn--80ak6aa92e.com/", "xn--80ak6aa92e.com"],
    ["https://login.\u0430pple.com/", "login.xn--pple-43d.com"],
  ])("is marked if its name has letters that look like others: %j", async (url, host) => {
    const { params } = await opened(url);
    expect(params?.url).toBe(`https://${host}/`);
    expect(params?.message).toContain(`the page is at ${host}, an international name`);
  });
});
