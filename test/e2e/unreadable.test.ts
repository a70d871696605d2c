/** A program that takes forever to parse blocks neither its own session nor others. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { claudikinsCommand } from "../support/command.ts";
import { executeRequest, httpServe, initialize, rawSession, resultText } from "../support/http-serve.ts";
import { testEnvironment } from "../support/process.ts";
import { temporaryFolder } from "../support/temporary.ts";

setDefaultTimeout(150_000);

const endless = `let v: number = 1;\n${"(a=".repeat(38)}1${")=>1".repeat(38)}`;

const executing = (id: number, code: string, timeoutMs: number) => ({
  jsonrpc: "2.0",
  id,
  method: "tools/call",
  params: { name: "execute_code", arguments: { code, timeout_ms: timeoutMs } },
});

test("over HTTP, another session is answered while code is parsed", async () => {
  using folder = temporaryFolder();
  folder.write("claudikins.json", { mcpServers: {} });
  await using serve = await httpServe(folder);
  const [one, two] = [await rawSession(serve.url), await rawSession(serve.url)];
  const endlessly = one.post(executing(1, endless, 3_000)).then(resultText);
  await Bun.sleep(500);
  expect(await resultText(await two.post(executeRequest(2, "return 6 * 7")))).toBe("42");
  expect(await resultText(await one.post(executeRequest(3, "const n: number = 5; return n")))).toBe("5");
  expect(await endlessly).toMatch(/could not be parsed as TypeScript with(?:in 3 s| 512 MB of memory) and was not run/);
});

test("over HTTP, SIGTERM ends serve while code is parsed", async () => {
  using folder = temporaryFolder();
  folder.write("claudikins.json", { mcpServers: {} });
  await using serve = await httpServe(folder);
  const session = await rawSession(serve.url);
  const cut = session.post(executing(1, endless, 10_000)).catch(() => undefined);
  await Bun.sleep(500);
  serve.signal("SIGTERM");
  expect(await Promise.race([serve.exited, Bun.sleep(100_000)])).toBeNumber();
  await cut;
});

/** `serve` on stdin and stdout; `answer` resolves with the answer to a request. */
function stdioServe(cwd: string) {
  const child = Bun.spawn([...claudikinsCommand, "serve"], {
    cwd,
    env: testEnvironment({ XDG_DATA_HOME: `${cwd}/data` }),
    stdin: "pipe",
    stdout: "pipe",
    stderr: "ignore",
  });
  type Message = { id?: number; result?: { content?: { text: string }[]; isError?: boolean }; error?: object };
  const waiting = new Map<number, (message: Message) => void>();
  void (async () => {
    let pending = "";
    for await (const chunk of child.stdout.pipeThrough(new TextDecoderStream())) {
      const lines = (pending + chunk).split("\n");
      pending = lines.pop() ?? "";
      for (const line of lines) {
        const message = JSON.parse(line) as Message;
        waiting.get(message.id ?? -1)?.(message);
      }
    }
  })();
  const send = (message: object) => {
    child.stdin.write(`${JSON.stringify(message)}\n`);
    child.stdin.flush();
  };
  return {
    child,
    send,
    ask(message: object & { id?: number }): Promise<Message> {
      const { promise, resolve } = Promise.withResolvers<Message>();
      waiting.set(message.id ?? -1, resolve);
      send(message);
      return promise;
    },
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null) child.kill("SIGKILL");
      await child.exited;
    },
  };
}

async function reading(cwd: string, timeoutMs: number) {
  const serve = stdioServe(cwd);
  await serve.ask(initialize() as { id: number });
  serve.send({ jsonrpc: "2.0", method: "notifications/initialized" });
  const executed = serve.ask(executing(1, endless, timeoutMs));
  await Bun.sleep(700);
  return { serve, executed };
}

const soon = <T>(answer: Promise<T>) =>
  Promise.race([answer, Bun.sleep(40_000).then(() => Promise.reject(new Error("no answer")))]) as Promise<T>;

test("over stdio, pings and timeout_ms work while code is parsed", async () => {
  using folder = temporaryFolder();
  const { serve, executed } = await reading(folder.path, 2_000);
  await using _ = serve;
  expect(await soon(serve.ask({ jsonrpc: "2.0", id: 2, method: "ping" } as { id: number }))).toMatchObject({
    result: {},
  });
  const { result } = await soon(executed);
  expect(result?.isError).toBe(true);
  expect(result?.content?.[0]?.text).toMatch(/^Failed \((?:timeout|check)\): .*could not be parsed/);
});

test("over stdio, a cancelled execution frees its place while its code is parsed", async () => {
  using folder = temporaryFolder();
  const { serve } = await reading(folder.path, 600_000);
  await using _ = serve;
  serve.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } });
  const { result } = await soon(serve.ask(executing(3, "return 1", 30_000)));
  expect(result?.content?.[0]?.text).toStartWith("1");
});

test.each(["SIGTERM", "SIGINT", "the end of stdin"] as const)(
  "over stdio, %s ends serve while code is parsed",
  async (how) => {
    using folder = temporaryFolder();
    const { serve } = await reading(folder.path, 600_000);
    await using _ = serve;
    if (how === "the end of stdin") serve.child.stdin.end();
    else serve.child.kill(how);
    expect(await soon(serve.child.exited)).toBeNumber();
  },
);
