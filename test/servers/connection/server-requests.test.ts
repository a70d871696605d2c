/** What a server chooses in its requests (ids, names, metadata) means nothing but its own requests. */
import { describe, expect, test } from "bun:test";
import { silentLog } from "../../../src/base/log.ts";
import { QuestionsOfServer } from "../../../src/servers/connection/questions-of-server.ts";
import { pageIdOf, type QuestionContext, type Responder } from "../../../src/servers/connection/responder.ts";
import type { ServerClient } from "../../../src/servers/connection/server-client.ts";

interface Waiting extends QuestionContext {
  params: Record<string, unknown>;
  answer: () => void;
  refuse: (code: number) => void;
}

/** The requests of one server, with an agent that answers when a test says so. */
function attached(server = "s") {
  const asked: Waiting[] = [];
  const visited: string[] = [];
  const responder: Responder = {
    capabilities: { elicitation: { form: {}, url: {} } },
    elicit: (params, about) =>
      new Promise((resolve, reject) => {
        const answer = () => resolve({ action: "accept", content: {} });
        const refuse = (code: number) => reject(Object.assign(new Error("refused"), { code }));
        asked.push({ ...about, params: params as Waiting["params"], answer, refuse });
        about.signal.addEventListener("abort", () => reject(new Error("withdrawn")));
      }),
    elicited: (id) => void visited.push(id),
  };
  const handlers = new Map<string, (notification: object) => void>();
  const client = {
    setNotificationHandler: (method: string, handler: (notification: object) => void) => handlers.set(method, handler),
  } as unknown as ServerClient;
  new QuestionsOfServer(server, responder, silentLog, undefined).attach(client);
  const never = new AbortController().signal;
  const elicit = (id: unknown, params: object = form) =>
    client.fallbackRequestHandler!(
      { method: "elicitation/create", params } as never,
      { mcpReq: { id, signal: never } } as never,
    ) as Promise<object>;
  return {
    asked,
    visited,
    elicit,
    client,
    tell: (method: string, params: object) => handlers.get(method)?.({ params }),
  };
}

const form = { message: "?", requestedSchema: { type: "object", properties: {} } };

describe("the id of a request", () => {
  test("may be used again by its server, which does not lift the limit of open requests", async () => {
    const { asked, elicit } = attached();
    const open = Array.from({ length: 16 }, () => elicit(1));
    await Bun.sleep(0);
    await expect(elicit(1)).rejects.toThrow("already has 16 open requests");
    for (const { answer } of asked) answer();
    expect(await Promise.all(open)).toHaveLength(16);
  });

  test("cancels all open requests that have it, and no others", async () => {
    const { asked, elicit, tell } = attached();
    const [one, two, other, text] = [elicit(1), elicit(1), elicit(2), elicit("1")].map((each) =>
      each.then(
        () => "answered",
        () => "cancelled",
      ),
    );
    await Bun.sleep(0);
    tell("notifications/cancelled", { requestId: 1 });
    for (const { answer } of asked) answer();
    expect(await Promise.all([one, two, other, text])).toEqual(["cancelled", "cancelled", "answered", "answered"]);
  });
});

describe("the metadata of a request", () => {
  test("has no key with a meaning in the protocol, and never the name of another server", async () => {
    const { asked, elicit } = attached();
    const meta = {
      progressToken: 1,
      "io.modelcontextprotocol/related-task": { taskId: "of the agent" },
      "io.modelcontextprotocol.more/a": 1,
      "com.mcp.tools/b": 1,
      "dev.mcp/c": 1,
      "claudikins/server": "good",
      "claudikins/other": 1,
    };
    const own = { traceparent: "00-1", "com.example/kept": 1, "example.com/mcp/": 1 };
    const answered = elicit(1, { ...form, task: { ttl: 1 }, _meta: { ...meta, ...own } });
    await Bun.sleep(0);
    const [{ params, answer } = {} as Waiting] = asked;
    expect(params["_meta"]).toEqual({ ...own, "claudikins/server": "s" });
    expect(params).not.toHaveProperty("task");
    answer();
    await answered;
  });
});

describe("a form", () => {
  const odd = { properties: { value: { $ref: "#/$defs/a" } }, $defs: { a: { enum: ["x"], default: "x" } } };

  test("in an unusual shape reaches the agent as it is, and its defaults count", async () => {
    const { asked, elicit } = attached();
    const answered = elicit(1, { message: "?", requestedSchema: odd });
    await Bun.sleep(0);
    const [{ params, answer } = {} as Waiting] = asked;
    expect(params["requestedSchema"]).toEqual({ type: "object", ...odd });
    answer();
    expect(await answered).toEqual({ action: "accept", content: { value: "x" } });
  });

  test("is sent once more as a plain form if the agent refuses it", async () => {
    const { asked, elicit } = attached();
    const answered = elicit(1, { message: "?", requestedSchema: odd });
    await Bun.sleep(0);
    asked[0]!.refuse(-32602);
    await Bun.sleep(0);
    expect(asked[1]!.params["requestedSchema"]).toEqual({
      type: "object",
      properties: { value: { type: "string", enum: ["x"], default: "x" } },
    });
    asked[1]!.answer();
    expect(await answered).toMatchObject({ action: "accept" });
  });

  test("is not sent again if the agent fails in another way, or if there is no plainer form", async () => {
    const { asked, elicit } = attached();
    const answers = [elicit(1, { message: "?", requestedSchema: odd }), elicit(2)];
    await Bun.sleep(0);
    asked[0]!.refuse(-32603);
    asked[1]!.refuse(-32602);
    expect((await Promise.allSettled(answers)).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    expect(asked).toHaveLength(2);
  });

  test("without a schema is invalid", async () => {
    await expect(attached().elicit(1, { message: "?" })).rejects.toThrow("invalid elicitation/create");
  });
});

describe("the name of a question of the newer era", () => {
  const nameFor = async (key: string) => {
    const { asked, client } = attached();
    const signal = new AbortController().signal;
    const answered = client.answerer!(
      { method: "elicitation/create", params: form },
      {
        id: 1,
        key,
        signal,
        origin: undefined,
      },
    );
    await Bun.sleep(0);
    const [{ name, answer } = {} as Waiting] = asked;
    answer();
    await answered;
    return name;
  };

  test.each(["user_name", "a.b-c", "1"])("may be %j", async (key) => {
    expect(await nameFor(key)).toBe(key);
  });

  test.each(["claudikins.1", "Claudikins-x", "claudikins", "", "a b", "a\n", "x".repeat(65), "ä", "\u202ea"])(
    "may not be %j",
    async (key) => {
      expect(await nameFor(key)).toBeUndefined();
    },
  );
});

describe("page ids", () => {
  test("are different for every server and every id", () => {
    const ids = [
      ["a", "b:c"],
      ["a:b", "c"],
      ["a%3Ab", "c"],
      ["a", "b%3Ac"],
      ["", "a:b:c"],
    ].map(([server = "", id]) => pageIdOf(server, id));
    expect(new Set(ids).size).toBe(ids.length);
  });

  test("do not let a server tell of a page of another server, whose name begins like its own", async () => {
    const [evil, good] = [attached("a"), attached("a:b")];
    const answered = good.elicit(1, { mode: "url", message: "?", url: "https://example.com/", elicitationId: "c" });
    await Bun.sleep(0);
    const [{ params, answer } = {} as Waiting] = good.asked;
    evil.tell("notifications/elicitation/complete", { elicitationId: "b:c" });
    good.tell("notifications/elicitation/complete", { elicitationId: "c" });
    expect(evil.visited).not.toContain(params["elicitationId"]);
    expect(good.visited).toEqual([String(params["elicitationId"])]);
    answer();
    await answered;
  });
});

test("a request that is too large is refused without being written as text", async () => {
  const { elicit } = attached();
  const huge = { ...form, message: "x".repeat(10_000_000) };
  await expect(elicit(1, huge)).rejects.toThrow("too large to pass on");
  const values = { ...form, _meta: { many: Array.from({ length: 20_000 }, () => 0) } };
  await expect(elicit(1, values)).rejects.toThrow("too large to pass on");
});
