/** Lines of a host on stdin that would take long to read are refused, and subscriptions are bounded. */
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { fileURLToPath } from "node:url";
import { claudikinsCommand } from "../support/command.ts";
import { envelope } from "../support/modern-host.ts";
import { testEnvironment } from "../support/process.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary.ts";

setDefaultTimeout(120_000);

interface Answer {
  id: unknown;
  result?: object;
  error?: { code: number; message: string };
}

let folder: TemporaryFolder;
let host: StdioHost;

/** A host that writes lines of any kind. */
class StdioHost {
  readonly #child;
  readonly #waiting = new Map<unknown, (answer: Answer) => void>();

  constructor(flags: string[]) {
    this.#child = Bun.spawn([...claudikinsCommand, "serve", ...flags], {
      cwd: folder.path,
      env: testEnvironment({ XDG_DATA_HOME: `${folder.path}/data` }),
      stdin: "pipe",
      stdout: "pipe",
      stderr: "ignore",
    });
    void this.#read();
  }

  async #read(): Promise<void> {
    let rest = "";
    for await (const chunk of this.#child.stdout.pipeThrough(new TextDecoderStream())) {
      const lines = (rest + chunk).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        const answer = JSON.parse(line) as Answer;
        this.#waiting.get(answer.id)?.(answer);
      }
    }
  }

  write(line: string): void {
    this.#child.stdin.write(`${line}\n`);
    this.#child.stdin.flush();
  }

  answerTo(id: unknown): Promise<Answer> {
    return new Promise((resolve) => this.#waiting.set(id, resolve));
  }

  ask(id: unknown, method: string, params: object = {}): Promise<Answer> {
    const answer = this.answerTo(id);
    this.write(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
    return answer;
  }

  async begin(): Promise<void> {
    const clientInfo = { name: "host", version: "1" };
    await this.ask("begin", "initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo });
    this.write('{"jsonrpc":"2.0","method":"notifications/initialized"}');
  }

  async end(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#child.exited;
  }
}

beforeEach(() => {
  folder = temporaryFolder();
  const main = fileURLToPath(import.meta.resolve("@modelcontextprotocol/server-everything/dist/index.js"));
  folder.write("claudikins.json", { mcpServers: { everything: { command: "node", args: [main] } } });
});
afterEach(async () => {
  await host.end();
  folder[Symbol.dispose]();
});

const keys = (count: number) => Array.from({ length: count }, (_, n) => `"key${n}":1`).join(",");
const heavy: [string, string, RegExp][] = [
  ["200,000 keys", `{"a":{${keys(200_000)}}}`, /more than 20000 keys/],
  ["100,000 levels", `{"a":${"[".repeat(100_000)}${"]".repeat(100_000)}}`, /more than 200 levels/],
  ["a million empty lists", `{"a":[${Array(1_000_000).fill("[]").join(",")}]}`, /more than 100000 values/],
  ["a number of a million digits", `{"a":${"1".repeat(1_000_000)}}`, /more than 1000 digits/],
];

describe.each([["code"], ["direct"]])("in %s mode", (mode) => {
  test.each(heavy)("a line with %s is refused with its id, and the session continues", async (_, params, why) => {
    host = new StdioHost(["--mode", mode]);
    await host.begin();
    const refused = host.answerTo(7);
    host.write(`{"jsonrpc":"2.0","id":7,"method":"tools/list","params":${params}}`);
    expect((await refused).error).toMatchObject({ code: -32_600, message: expect.stringMatching(why) });
    expect((await host.ask(8, "ping")).result).toEqual({});
    // The same before the SDK is loaded, and without an id that can be found.
    const unknown = host.answerTo(null);
    host.write(params);
    expect((await unknown).error?.message).toMatch(why);
    expect((await host.ask(9, "ping")).result).toEqual({});
  });

  test("a line of 3 MB that is one text is read, in one piece and in many", async () => {
    host = new StdioHost(["--mode", mode]);
    await host.begin();
    const padding = "x".repeat(3_000_000);
    expect((await host.ask(1, "ping", { _meta: { padding } })).result).toEqual({});
    expect((await host.ask(2, "ping")).result).toEqual({});
  });
});

test("a heavy first line of a host is refused", async () => {
  host = new StdioHost([]);
  const refused = host.answerTo(1);
  host.write(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{${keys(100_000)}}}`);
  expect((await refused).error?.message).toMatch(/keys/);
  await host.begin();
  expect((await host.ask(2, "ping")).result).toEqual({});
});

const uri = (number: number) => `demo://resource/dynamic/text/${number}`;

async function msOf(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

test("a list is answered soon although a host has sent 3,000 requests that listen to 90,000 resources", async () => {
  const _meta = envelope({});
  const listen = (number: number) => ({
    notifications: { resourceSubscriptions: Array.from({ length: 30 }, (_, each) => uri(number * 30 + each)) },
    _meta,
  });
  const flood = async (count: number) => {
    host = new StdioHost(["--mode", "direct"]);
    await host.ask("first", "resources/list", { _meta });
    return msOf(() => {
      for (let number = 0; number < count; number++) void host.ask(number, "subscriptions/listen", listen(number));
      return host.ask("list", "resources/list", { _meta });
    });
  };
  const few = await flood(50);
  await host.end();
  // 90,000 subscriptions would take fifty times as long.
  expect(await flood(3_000)).toBeLessThan(6 * few + 2_000);
});

test("a session subscribes to a bounded number of resources, and to others after it has unsubscribed", async () => {
  host = new StdioHost(["--mode", "direct"]);
  await host.begin();
  await host.ask("list", "resources/list");
  const all = Array.from({ length: 1_500 }, (_, number) =>
    host.ask(number, "resources/subscribe", { uri: uri(number) }),
  );
  const answers = await Promise.all(all);
  expect(answers.filter(({ result }) => result)).toHaveLength(1_000);
  expect(answers.at(-1)?.error?.message).toContain("A session may subscribe to 1000 resources. Unsubscribe");
  expect((await host.ask("same", "resources/subscribe", { uri: uri(3) })).result).toEqual({});
  await host.ask("less", "resources/unsubscribe", { uri: uri(3) });
  expect((await host.ask("more", "resources/subscribe", { uri: uri(1_400) })).result).toEqual({});
});
