/** `serve --http` as hosts see it: sessions that do not meet, calls that outlive a connection, and an orderly end. */
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { fromSource } from "../support/claudikins.ts";
import {
  eventsOf,
  executeRequest,
  httpServe,
  initialize,
  json,
  rawSession,
  resultText,
  sdkHost,
} from "../support/http-serve.ts";
import { processesLeft, processesWith, runProgram, testEnvironment } from "../support/process.ts";
import { fixture } from "../support/servers.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary.ts";

setDefaultTimeout(60_000);

let folder: TemporaryFolder;
beforeEach(() => {
  folder = temporaryFolder();
  folder.write("claudikins.json", { mcpServers: { asker: fixture("protocol", "stdio", folder.path) } });
});
afterEach(async () => {
  expect(await processesLeft(folder.path, 5_000)).toEqual([]);
  folder[Symbol.dispose]();
});

const form = { message: "Who?", requestedSchema: { type: "object", properties: { name: { type: "string" } } } };
const askWho = `return (await asker.ask(${JSON.stringify({ method: "elicitation/create", params: form })})).result.content.name`;

/** A host whose person gives this name, and how often it was asked. */
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

/** Resolves when there are so many processes of the fixture. */
async function processes(count: number): Promise<void> {
  while (processesWith(folder.path).filter((pid) => pid !== serving).length !== count) await Bun.sleep(20);
}
let serving = 0;

describe("sessions", () => {
  test("find the two tools, run code, hear how far it is, and are gone when they are ended", async () => {
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

  test("whose hosts can be asked never meet: each person is asked for their own calls alone", async () => {
    await using door = await httpServe(folder);
    const people = await Promise.all(["Ada", "Bo", "Cy"].map((name) => hostOfPerson(door.url, name)));
    const answers = await Promise.all(
      people.map(({ host }) => Promise.all(Array.from({ length: 5 }, () => host.execute(askWho)))),
    );
    expect(answers).toEqual(["Ada", "Bo", "Cy"].map((name) => Array(5).fill(name)));
    expect(people.map(({ asked }) => asked())).toEqual([5, 5, 5]);
    // One that can be asked nothing is asked nothing.
    await using mute = await sdkHost(door.url);
    expect(await mute.execute("return asker.capabilities()")).toBe("{}");
    await Promise.all(people.map(({ host }) => host[Symbol.asyncDispose]()));
  });

  test("whose hosts can be asked have servers of their own, which end with them; others share theirs", async () => {
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

  test("each have a server of their own where it is not shared", async () => {
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

  test("cancel what is theirs and nothing else, though they number their requests alike", async () => {
    await using door = await httpServe(folder);
    const [one, two] = await Promise.all([rawSession(door.url), rawSession(door.url)]);
    const code = "await new Promise((resolve) => setTimeout(resolve, 1_500)); return 7";
    const [a, b] = await Promise.all([one.post(executeRequest(5, code)), two.post(executeRequest(5, code))]);
    await one.post({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 5 } });
    // Its stream ends without an answer.
    expect(await resultText(a)).toBe("(no result)");
    expect(await resultText(b)).toBe("7");
  });

  test("that are ended cancel what they run", async () => {
    await using door = await httpServe(folder);
    const session = await rawSession(door.url);
    const running = await session.post(
      executeRequest(1, 'await fs.writeFile("./workspace/begun", ""); for (;;) await asker.wait({ ms: 20 })'),
    );
    await using other = await sdkHost(door.url);
    const begun = 'return (await fs.readdir("./workspace")).includes("begun")';
    while ((await other.execute(begun)) !== "true") await Bun.sleep(20);
    expect((await session.end()).status).toBe(200);
    expect(await resultText(running)).toBe("(no result)");
    // Nothing is left that an end would wait for.
    door.signal("SIGTERM");
    expect(await door.exited).toBe(0);
    expect(door.stderr()).toBe("");
  });

  test("are not more than so many, and idle ones end", async () => {
    await using door = await httpServe(folder, ["--max-sessions", "2", "--session-idle", "300ms"]);
    const [one] = await Promise.all([rawSession(door.url), rawSession(door.url)]);
    const third = await fetch(door.url, { method: "POST", headers: json, body: JSON.stringify(initialize()) });
    expect([third.status, third.headers.get("retry-after")]).toEqual([503, "30"]);
    expect(await third.json()).toMatchObject({ jsonrpc: "2.0", id: null, error: { code: -32000 } });
    // Whoever listens is not idle.
    const listening = await one.get();
    for (let free = false; !free; ) {
      await Bun.sleep(50);
      const next = await fetch(door.url, { method: "POST", headers: json, body: JSON.stringify(initialize()) });
      free = next.ok;
      await next.text();
    }
    expect((await one.post({ jsonrpc: "2.0", id: 9, method: "ping" })).status).toBe(200);
    await listening.body?.cancel();
  });
});

describe("a broken connection", () => {
  const slow = "await new Promise((resolve) => setTimeout(resolve, 700)); return 'whole'";

  test("cancels nothing: the answer waits for the client that comes back", async () => {
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
    // Also once more, and then there is nothing more to come.
    const replayed = await Array.fromAsync(eventsOf(await session.get(primer!.id!)));
    expect(replayed.map(({ message }) => message?.id)).toEqual([3]);
    expect((await session.get(answer!.id!)).status).toBe(204);
  });

  test("that claudikins itself ends, since it is old, is made again by the client, and nothing is lost", async () => {
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

  test("of a client that cannot come back cancels the call", async () => {
    await using door = await httpServe(folder);
    const session = await rawSession(door.url, "2025-06-18");
    const cut = new AbortController();
    const code = 'try { await asker.wait({ ms: 60_000 }) } finally { await fs.writeFile("./workspace/never", "") }';
    const response = await session.post(executeRequest(3, code), { signal: cut.signal });
    expect(response.status).toBe(200);
    cut.abort();
    await response.text().catch(() => {});
    // As soon as it is cancelled its id is free.
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

  test("does not lose what a server asks meanwhile", async () => {
    await using door = await httpServe(folder);
    const session = await rawSession(door.url, "2025-11-25", { elicitation: {} });
    // It comes where the answer will, whether the client listens elsewhere or not.
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

  /** A host whose code runs. */
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
    // Not every end lets it come.
    text.catch(() => {});
    return { session, text };
  }

  test("lets running calls end, and takes no new ones", async () => {
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

  test("cancels what takes too long, and says so", async () => {
    await using door = await httpServe(folder, ["--grace", "200ms"]);
    const { text } = await running(door.url, wait(60_000));
    door.signal("SIGINT");
    expect(await text).toContain("Failed (cancelled)");
    expect(await door.exited).toBe(0);
  });

  test("comes at once with the second signal", async () => {
    await using door = await httpServe(folder);
    const { session } = await running(door.url, wait(60_000));
    door.signal("SIGINT");
    while ((await session.post({ jsonrpc: "2.0", id: 7, method: "ping" })).status !== 503) await Bun.sleep(10);
    door.signal("SIGINT");
    expect(await door.exited).toBe(130);
  });
});

describe("the address", () => {
  test("is one that is free", async () => {
    await using door = await httpServe(folder);
    const { port } = new URL(door.url);
    const second = await runProgram([...fromSource, "serve", "--http", port], { cwd: folder.path });
    expect(second).toMatchObject({ exitCode: 2, stdout: "" });
    expect(second.stderr.replaceAll(port, "PORT")).toMatchInlineSnapshot(`
      "error: Cannot listen at 127.0.0.1:PORT: another program does
        caused by: Failed to start server. Is port PORT in use?

      hint: Choose another port, or 0 for any that is free.
      "
    `);
  });

  test.each(["no-port", "1.2.3.4:", "127.0.0.1:70000", "http://127.0.0.1:80", "::1:80", ":80"])(
    "is refused where it is none: %s",
    async (address) => {
      const { exitCode, stderr } = await runProgram([...fromSource, "serve", "--http", address], { cwd: folder.path });
      expect([exitCode, stderr]).toEqual([2, expect.stringContaining("--http takes a port, or host:port")]);
    },
  );

  test("is said plainly where no JSON is asked for", async () => {
    const child = Bun.spawn([...fromSource, "serve", "--http", "localhost:0"], {
      cwd: folder.path,
      env: testEnvironment(),
      stdout: "pipe",
      stderr: "inherit",
    });
    const { value } = await child.stdout.getReader().read();
    expect(new TextDecoder().decode(value)).toMatch(/^http:\/\/localhost:\d+\/mcp\n$/);
    child.kill("SIGTERM");
    expect(await child.exited).toBe(0);
  });
});
