/** `serve --http` for hosts: separate sessions, calls that outlive their connections, and an orderly end. */
import { beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { lean } from "../../src/serve/http/body.ts";
import { claudikinsCommand } from "../support/command.ts";
import { eventually } from "../support/eventually.ts";
import {
  afterSignal,
  eventsOf,
  executeRequest,
  httpServe,
  initialize,
  json,
  rawSession,
  resultText,
  type SdkHost,
  sdkHost,
  signalFile,
} from "../support/http-serve.ts";
import { ownFolder } from "../support/own-folder.ts";
import { processesWith, runProgram, testEnvironment } from "../support/process.ts";
import { fixture } from "../support/servers.ts";

setDefaultTimeout(60_000);

const folder = ownFolder({ endsProcesses: true });
beforeEach(() => {
  folder.write("claudikins.json", { mcpServers: { asker: fixture("protocol", "stdio", folder.path) } });
});

const form = { message: "Who?", requestedSchema: { type: "object", properties: { name: { type: "string" } } } };
const askWho = `return (await asker.ask(${JSON.stringify({ method: "elicitation/create", params: form })})).result.content.name`;

/** A host whose person answers with this name, and the number of questions. */
async function hostOfPerson(url: string, name: string) {
  let asked = 0;
  const host = await sdkHost(
    url,
    { elicitation: {} },
    {
      prepare: (client) =>
        client.setRequestHandler(ElicitRequestSchema, () => {
          asked += 1;
          return { action: "accept", content: { name } };
        }),
    },
  );
  return { host, asked: () => asked };
}

/** Resolves when this many processes of the fixture run. */
async function processes(count: number): Promise<void> {
  await eventually(() => processesWith(folder.path).filter((pid) => pid !== serving).length === count);
}
let serving = 0;

describe("sessions", () => {
  test("list the two tools, run code, report progress, and end when the client ends them", async () => {
    await using door = await httpServe(folder);
    await using host = await sdkHost(door.url);
    expect((await host.client.listTools()).tools.map(({ name }) => name)).toEqual(["search_tools", "execute_code"]);
    expect(host.client.getInstructions()).toContain("- asker");
    const heard: object[] = [];
    const text = await host.execute("await asker.wait({ ms: 1 }); return await asker.wait({ ms: 1 })", {
      onprogress: (progress) => void heard.push(progress),
    });
    expect(text).toBe("waited");
    expect(heard.at(-1)).toEqual({ progress: 2, message: "asker.wait: done" });
    const headers = { ...json, "mcp-session-id": host.transport.sessionId! };
    await host.transport.terminateSession();
    const after = await fetch(door.url, { method: "POST", headers, body: JSON.stringify(executeRequest(1, "1")) });
    expect(after.status).toBe(404);
  });

  test("are separate if their agents can ask a person: each person is asked only about their own calls", async () => {
    await using door = await httpServe(folder);
    const people = await Promise.all(["Ada", "Bo", "Cy"].map((name) => hostOfPerson(door.url, name)));
    const answers = await Promise.all(
      people.map(({ host }) => Promise.all(Array.from({ length: 5 }, () => host.execute(askWho)))),
    );
    expect(answers).toEqual(["Ada", "Bo", "Cy"].map((name) => Array(5).fill(name)));
    expect(people.map(({ asked }) => asked())).toEqual([5, 5, 5]);
    // A host without elicitation gets no questions.
    await using mute = await sdkHost(door.url);
    expect(await mute.execute("return asker.capabilities()")).toBe("{}");
    await Promise.all(people.map(({ host }) => host[Symbol.asyncDispose]()));
  });

  test("have their own servers if their agents can ask a person; other sessions share servers", async () => {
    await using door = await httpServe(folder);
    serving = door.pid;
    await using one = await sdkHost(door.url);
    await using two = await sdkHost(door.url);
    await one.execute("return asker.wait({ ms: 1 })");
    await two.execute("return asker.wait({ ms: 1 })");
    await processes(1);
    const { host } = await hostOfPerson(door.url, "Ada");
    await host.execute("return asker.wait({ ms: 1 })");
    await processes(2);
    await host[Symbol.asyncDispose]();
    await processes(1);
    expect(await one.execute("return asker.wait({ ms: 1 })")).toBe("waited");
  });

  test("have their own process of a private server", async () => {
    const asker = { ...fixture("protocol", "stdio", folder.path), session: "private" };
    folder.write("claudikins.json", { mcpServers: { asker } });
    await using door = await httpServe(folder);
    serving = door.pid;
    await using one = await sdkHost(door.url);
    const two = await sdkHost(door.url);
    for (const each of [one, two, one]) await each.execute("return asker.wait({ ms: 1 })");
    await processes(2);
    await two[Symbol.asyncDispose]();
    await processes(1);
  });

  test("share the servers that keep no state, although another server does", async () => {
    const asker = { ...fixture("protocol", "stdio", folder.path), session: "private" };
    folder.write("claudikins.json", { mcpServers: { asker, seen: fixture("seen", folder.path) } });
    await using door = await httpServe(folder);
    serving = door.pid;
    await using one = await sdkHost(door.url);
    await using two = await sdkHost(door.url);
    const pid = async (of: SdkHost) => JSON.parse(await of.execute("return (await seen.seen()).pid"));
    expect(await pid(one)).toBe(await pid(two));
    for (const each of [one, two]) await each.execute("return asker.wait({ ms: 1 })");
    await processes(3);
  });

  test("cancel only their own requests, even if other sessions use the same ids", async () => {
    await using door = await httpServe(folder);
    const [one, two] = await Promise.all([rawSession(door.url), rawSession(door.url)]);
    const code = afterSignal("7");
    const [a, b] = await Promise.all([one.post(executeRequest(5, code)), two.post(executeRequest(5, code))]);
    await one.post({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 5 } });
    // Its stream ends without an answer.
    expect(await resultText(a)).toBe("(no result)");
    folder.write(signalFile, "");
    expect(await resultText(b)).toBe("7");
  });

  test("cancel their calls when they end", async () => {
    await using door = await httpServe(folder);
    const session = await rawSession(door.url);
    const running = await session.post(
      executeRequest(1, 'await fs.writeFile("./workspace/begun", ""); for (;;) await asker.wait({ ms: 20 })'),
    );
    await using other = await sdkHost(door.url);
    const begun = 'return (await fs.readdir("./workspace")).includes("begun")';
    await eventually(async () => (await other.execute(begun)) === "true");
    expect((await session.end()).status).toBe(200);
    expect(await resultText(running)).toContain("The session has ended");
    // There is nothing left that the end would have to wait for.
    door.signal("SIGTERM");
    expect(await door.exited).toBe(0);
    expect(door.stderr()).toBe("");
  });

  const begin = (url: string, name = "raw") => {
    const { params, ...rest } = initialize() as { params: object };
    const body = JSON.stringify({ ...rest, params: { ...params, clientInfo: { name, version: "1" } } });
    return fetch(url, { method: "POST", headers: json, body });
  };
  const ping = { jsonrpc: "2.0", id: 9, method: "ping" };

  test("are limited: at the limit, the longest idle session of the same client ends", async () => {
    await using door = await httpServe(folder, ["--max-sessions", "2"]);
    const one = await rawSession(door.url);
    const two = await rawSession(door.url);
    await (await one.post(ping)).text();
    const third = await begin(door.url);
    expect(third.status).toBe(200);
    expect([(await one.post(ping)).status, (await two.post(ping)).status]).toEqual([200, 404]);
  });

  test("do not lock other clients out if one client has many idle listeners", async () => {
    await using door = await httpServe(folder);
    const hoard = await Promise.all(Array.from({ length: 100 }, () => rawSession(door.url)));
    const streams = await Promise.all(hoard.map((each) => each.get()));
    const other = await begin(door.url, "another");
    expect(other.status).toBe(200);
    const id = other.headers.get("mcp-session-id") ?? "";
    // More sessions of the same client replace sessions of the same client.
    await Promise.all(Array.from({ length: 20 }, () => rawSession(door.url)));
    const headers = { ...json, "mcp-session-id": id };
    expect((await fetch(door.url, { method: "POST", headers, body: JSON.stringify(ping) })).status).toBe(200);
    await Promise.all(streams.map((each) => each.body?.cancel()));
  });

  test("with a running call are never ended at the limit", async () => {
    await using door = await httpServe(folder, ["--max-sessions", "1"]);
    const session = await rawSession(door.url);
    const answer = await session.post(executeRequest(3, afterSignal("'whole'")));
    const refused = await begin(door.url);
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "30"]);
    expect(await refused.json()).toMatchObject({ jsonrpc: "2.0", id: null, error: { code: -32000 } });
    folder.write(signalFile, "");
    expect(await resultText(answer)).toBe("whole");
  });

  test("end when they are idle, and listening counts as use", async () => {
    await using door = await httpServe(folder, ["--session-idle", "2s"]);
    const [one, two] = await Promise.all([rawSession(door.url), rawSession(door.url)]);
    const listening = await one.get();
    // A request would count as use.
    await Bun.sleep(4_000);
    expect([(await one.post(ping)).status, (await two.post(ping)).status]).toEqual([200, 404]);
    await listening.body?.cancel();
  });

  test("keep only what claudikins needs of initialize, and refuse a large one", async () => {
    await using door = await httpServe(folder);
    const large = async (bytes: number) => {
      const params = {
        protocolVersion: "2025-11-25",
        clientInfo: { name: "x", version: "1", junk: "x".repeat(bytes) },
      };
      const body = JSON.stringify({
        jsonrpc: "2.0",
        id: 0,
        method: "initialize",
        params: { ...params, capabilities: {} },
      });
      const response = await fetch(door.url, { method: "POST", headers: json, body });
      await response.text();
      return response.status;
    };
    expect([await large(60_000), await large(70_000), await large(15_000_000)]).toEqual([200, 413, 413]);
    const kept = lean({
      jsonrpc: "2.0",
      id: 0,
      method: "initialize",
      params: {
        protocolVersion: "2025-11-25",
        clientInfo: { name: "n".repeat(1_000), version: "1", websiteUrl: "https://x.example/" },
        capabilities: {
          sampling: { tools: { junk: {} }, context: {} },
          elicitation: { form: { applyDefaults: true }, url: { junk: {} } },
          roots: { listChanged: true },
          experimental: { junk: {} },
        },
        _meta: { junk: {} },
      },
    });
    expect(kept.params).toEqual({
      protocolVersion: "2025-11-25",
      clientInfo: { name: "n".repeat(256), version: "1" },
      capabilities: {
        sampling: { tools: {}, context: {} },
        elicitation: { form: { applyDefaults: true }, url: {} },
        roots: { listChanged: true },
      },
    });
  });
});

describe("a broken connection", () => {
  const slow = "await new Promise((resolve) => setTimeout(resolve, 700)); return 'whole'";

  test("cancels nothing: the answer waits until the client reconnects", async () => {
    await using door = await httpServe(folder);
    const session = await rawSession(door.url);
    const cut = new AbortController();
    const events = eventsOf(await session.post(executeRequest(3, slow), { signal: cut.signal }));
    const { value: primer } = await events.next();
    expect(primer).toEqual({ id: expect.any(String), retry: "1000", data: "" });
    cut.abort();
    await events.next().catch(() => {});
    const back = await session.get(primer!.id!);
    const [again, answer] = await Array.fromAsync(eventsOf(back));
    expect(again).toMatchObject({ data: "" });
    expect(answer?.message).toMatchObject({ id: 3, result: { content: [{ text: expect.stringContaining("whole") }] } });
    // Resumed again, there is nothing more.
    const replayed = await Array.fromAsync(eventsOf(await session.get(primer!.id!)));
    expect(replayed.map(({ message }) => message?.id)).toEqual([3]);
    expect((await session.get(answer!.id!)).status).toBe(204);
  });

  test("is reopened by the client if claudikins closed it after --reconnect-after, and no event is lost", async () => {
    await using door = await httpServe(folder, ["--reconnect-after", "100ms"]);
    const session = await rawSession(door.url);
    let last = "";
    let connections = 0;
    const text = async () => {
      for (let response = await session.post(executeRequest(3, slow)); ; response = await session.get(last)) {
        connections += 1;
        for await (const { id = last, message } of eventsOf(response)) {
          last = id;
          if (message?.result) return message.result.content[0]!.text;
        }
      }
    };
    expect(await text()).toContain("whole");
    expect(connections).toBeGreaterThan(1);
    await using host = await sdkHost(door.url);
    expect(await host.execute(slow)).toBe("whole");
  });

  test("cancels the call if the client cannot reconnect", async () => {
    await using door = await httpServe(folder);
    const session = await rawSession(door.url, "2025-06-18");
    const cut = new AbortController();
    const code = 'try { await asker.wait({ ms: 60_000 }) } finally { await fs.writeFile("./workspace/never", "") }';
    const response = await session.post(executeRequest(3, code), { signal: cut.signal });
    expect(response.status).toBe(200);
    cut.abort();
    await response.text().catch(() => {});
    // Its id is free once it is cancelled.
    let status = 0;
    while (status !== 200) {
      const next = await session.post({ jsonrpc: "2.0", id: 3, method: "ping" });
      status = next.status;
      await next.text();
    }
    door.signal("SIGTERM");
    expect(await door.exited).toBe(0);
    expect(door.stderr()).toBe("");
  });

  test("does not lose requests of servers", async () => {
    await using door = await httpServe(folder);
    const session = await rawSession(door.url, "2025-11-25", { elicitation: {} });
    // The request comes on the same stream as the answer, whether the client listens elsewhere or not.
    const running = eventsOf(await session.post(executeRequest(1, askWho)));
    for await (const { message } of running) {
      if (message?.method === "ping") await session.post({ jsonrpc: "2.0", id: message.id, result: {} });
      if (message?.method !== "elicitation/create") continue;
      const result = { action: "accept", content: { name: "Ada" } };
      expect((await session.post({ jsonrpc: "2.0", id: message.id, result })).status).toBe(202);
      break;
    }
    const listening = await session.get();
    expect(listening.status).toBe(200);
    let text = "";
    for await (const { message } of eventsOf(await session.post(executeRequest(2, askWho)))) {
      const result = { action: "accept", content: { name: "Bo" } };
      if (message?.method === "elicitation/create") await session.post({ jsonrpc: "2.0", id: message.id, result });
      text = message?.result?.content[0]?.text ?? text;
    }
    expect(text).toStartWith("Bo");
  });
});

describe("the end", () => {
  const wait = (ms: number) => `await new Promise((resolve) => setTimeout(resolve, ${ms})); return "ended well"`;

  /** A host that runs this code. */
  async function running(url: string, code: string) {
    const session = await rawSession(url);
    const token = { _meta: { progressToken: 1 } };
    const response = await session.post(executeRequest(1, `await asker.wait({ ms: 1 }); ${code}`, token));
    const events = eventsOf(response);
    for (let event = await events.next(); event.value?.message?.method !== "notifications/progress"; ) {
      event = await events.next();
    }
    const text = (async () => {
      for await (const { message } of events) if (message?.result) return message.result.content[0]!.text;
      return "(no result)";
    })();
    // Not every way to end waits for the answer.
    text.catch(() => {});
    return { session, text };
  }

  test("lets running calls finish, and accepts no new ones", async () => {
    await using door = await httpServe(folder);
    const { session, text } = await running(door.url, wait(1_000));
    door.signal("SIGTERM");
    let status = 0;
    while (status !== 503) {
      const next = await session.post({ jsonrpc: "2.0", id: 7, method: "ping" });
      status = next.status;
      await next.text();
    }
    const another = await fetch(door.url, { method: "POST", headers: json, body: JSON.stringify(initialize()) });
    expect([another.status, another.headers.get("retry-after")]).toEqual([503, "5"]);
    expect((await fetch(new URL("/health", door.url))).status).toBe(503);
    expect(await text).toContain("ended well");
    expect(await door.exited).toBe(0);
  });

  test("saves programs that wait after the grace period, cancels the others, and says so", async () => {
    await using door = await httpServe(folder, ["--grace", "200ms"]);
    const waiting = await running(door.url, wait(60_000));
    const computing = await running(door.url, "for (;;);");
    door.signal("SIGINT");
    expect(await waiting.text).toMatch(/is not done yet.* \{"resume": "\w+"\}/);
    expect(await computing.text).toContain("Failed (cancelled)");
    expect(await door.exited).toBe(0);
  });

  test("is immediate after the second signal", async () => {
    await using door = await httpServe(folder);
    const { session } = await running(door.url, wait(60_000));
    door.signal("SIGINT");
    await eventually(async () => (await session.post({ jsonrpc: "2.0", id: 7, method: "ping" })).status === 503);
    door.signal("SIGINT");
    expect(await door.exited).toBe(130);
  });
});

describe("the address", () => {
  test("has a free port if the port is 0", async () => {
    await using door = await httpServe(folder);
    const { port } = new URL(door.url);
    const second = await runProgram([...claudikinsCommand, "serve", "--http", port], { cwd: folder.path });
    expect(second).toMatchObject({ exitCode: 2, stdout: "" });
    expect(second.stderr.replaceAll(port, "PORT")).toMatchInlineSnapshot(`
      "error: Cannot listen on 127.0.0.1:PORT: the port is in use by another program
        caused by: Failed to start server. Is port PORT in use?

      hint: Choose another port, or 0 for any free port.
      "
    `);
  });

  test.each(["no-port", "1.2.3.4:", "127.0.0.1:70000", "http://127.0.0.1:80", "::1:80", ":80"])(
    "is refused if it is invalid: %s",
    async (address) => {
      const { exitCode, stderr } = await runProgram([...claudikinsCommand, "serve", "--http", address], {
        cwd: folder.path,
      });
      expect([exitCode, stderr]).toEqual([2, expect.stringContaining("--http takes a port, or host:port")]);
    },
  );

  test("is printed as text without --json", async () => {
    const child = Bun.spawn([...claudikinsCommand, "serve", "--http", "localhost:0"], {
      cwd: folder.path,
      env: testEnvironment(),
      stdout: "pipe",
      stderr: "inherit",
    });
    const { value } = await child.stdout.getReader().read();
    expect(new TextDecoder().decode(value)).toMatch(/^http:\/\/(?:127\.0\.0\.1|\[::1\]):\d+\/mcp\n$/);
    child.kill("SIGTERM");
    expect(await child.exited).toBe(0);
  });
});
