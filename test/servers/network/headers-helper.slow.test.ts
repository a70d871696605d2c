/** `headersHelper`: a program prints the headers for a server. Real programs and real servers, and no secret in any text. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the shell's variables
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { watch } from "node:fs/promises";
import { join } from "node:path";
import type { NetworkServer } from "../../../src/config/load.ts";
import { HeadersHelper } from "../../../src/servers/network/headers-helper.ts";
import type { Pool } from "../../../src/servers/pool.ts";
import { redactorOf } from "../../../src/servers/values/secrets.ts";
import { root } from "../../support/claudikins.ts";
import { eventually } from "../../support/eventually.ts";
import { type NetworkFixture, networkFixture } from "../../support/network.ts";
import { failureOf, failureText, openPool, plainValue, type ServerEntry, serverConfig } from "../../support/pool.ts";
import { processesLeft } from "../../support/process.ts";
import { type TemporaryFolder, temporaryFolder } from "../../support/temporary.ts";

setDefaultTimeout(60_000);

let folder: TemporaryFolder;
let pool: Pool | undefined;
let server: NetworkFixture | undefined;
let logged: string[] = [];

beforeEach(() => {
  folder = temporaryFolder();
  folder.write("token", "secret-1");
  logged = [];
});
afterEach(async () => {
  await pool?.close();
  await server?.kill();
  expect(await processesLeft(folder.path)).toEqual([]);
  // Whatever a test does, its secrets contain the word "secret".
  expect(logged.filter((line) => /secret/i.test(line))).toEqual([]);
  folder[Symbol.dispose]();
  pool = undefined;
  server = undefined;
});

/** Prints the token of the file, and leaves a line for each run. */
const printsToken = (more = "") =>
  `echo ran >> runs; ${more} printf '{"Authorization":"Bearer %s","X-Server":"%s"}' "$(cat token)" "$CLAUDE_CODE_MCP_SERVER_NAME"`;

/** Its processes are found by the folder on their command lines. */
const endless = () => `sh -c 'sleep 600; true' '${folder.path}'`;

const runs = () => readFileSync(join(folder.path, "runs"), "utf8").split("\n").length - 1;
const changeToken = (token: string) => folder.write("token", token);

async function guarded(status = 401): Promise<string> {
  const env = { TOKEN_FILE: join(folder.path, "token"), STATUS: String(status) };
  server = await networkFixture("guarded", { env });
  return `http://127.0.0.1:${server.port}/mcp`;
}

function open(entry: Partial<NetworkServer> & { url: string }, env: Record<string, string> = {}): Pool {
  const write = (line: string) => void logged.push(line);
  const far: ServerEntry = { cwd: folder.path, ...entry };
  const path = { PATH: process.env["PATH"] ?? "" };
  pool = openPool({ far }, { env: { ...path, ...env }, cwd: "/", log: { debug: write, info: write, warn: write } });
  return pool;
}

const call = async (args: object = {}) => plainValue(await pool!.callTool("far", "echo", args));

async function failure(of: Promise<unknown>): Promise<string> {
  const error = await failureOf(of);
  expect(Bun.inspect(error).replaceAll(root, "")).not.toMatch(/secret/i);
  return failureText(error, folder.path);
}

/** The requests that the server has seen, by what they were authorized with. */
const requestsWith = (token: string) => server!.lines.filter((line) => line.endsWith(` Bearer ${token}`)).length;

describe("the program of headersHelper", () => {
  test("runs once for all requests, and again for a new connection only if its headers are old", async () => {
    open({ url: await guarded(), headersHelper: printsToken() });
    expect(await Promise.all([1, 2, 3].map((n) => call({ n })))).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
    await pool!.release("far");
    expect(await call({ again: true })).toEqual({ again: true });
    expect(runs()).toBe(1);
  });

  test.each([401, 403])("runs once more after %i, however many calls are refused together", async (status) => {
    open({ url: await guarded(status), headersHelper: printsToken() });
    await call();
    changeToken("secret-2");
    const numbers = Array.from({ length: 20 }, (_, n) => ({ n }));
    expect(await Promise.all(numbers.map(call))).toEqual(numbers);
    expect(runs()).toBe(2);
    changeToken("secret-3");
    expect(await call({ later: true })).toEqual({ later: true });
    expect(runs()).toBe(3);
  });

  test("runs no more than once when the server refuses new headers as well, for calls together and one after another", async () => {
    open({
      url: await guarded(403),
      headersHelper: `echo ran >> runs; printf '{"Authorization":"Bearer secret-1"}'`,
    });
    await call();
    changeToken("secret-other");
    const texts = await Promise.all(Array.from({ length: 10 }, () => failure(call())));
    for (let more = 0; more < 3; more++) texts.push(await failure(call()));
    expect(new Set(texts)).toEqual(
      new Set([
        'AUTH_REQUIRED: far.echo: server "far": it refused the headers of its headersHelper (403)\n' +
          'hint: Run the line of "headersHelper" in a terminal and check what it prints. claudikins runs it again at most every 30 s.',
      ]),
    );
    expect(runs()).toBe(2);
  });

  test("is not run for each call after it has failed", async () => {
    open({ url: await guarded(), headersHelper: printsToken("test ! -e broken || exit 3;") });
    await call();
    changeToken("secret-2");
    folder.write("broken", "");
    const texts = await Promise.all(Array.from({ length: 10 }, () => failure(call())));
    texts.push(await failure(call()));
    expect(new Set(texts).size).toBe(1);
    expect(texts[0]).toContain("its headersHelper exited with code 3");
    expect(runs()).toBe(2);
  });

  test("gets all variables, the name and the address of the server, and the folder; the shell fills its variables in", async () => {
    const url = await guarded();
    changeToken("secret-of-vault");
    const line = `test "$CLAUDE_CODE_MCP_SERVER_URL" = '${url}' && test "$CLAUDE_CODE_MCP_SERVER_NAME" = far && test -e token && echo "{\\"Authorization\\": \\"Bearer \${VAULT_TOKEN}\\"}"`;
    open({ url, headersHelper: line }, { VAULT_TOKEN: "secret-of-vault" });
    expect(await call({ a: 1 })).toEqual({ a: 1 });
  });

  test("prints headers that replace those of the config, and not those of the protocol", async () => {
    const headersHelper = `echo '{"authorization":"Bearer secret-1","content-type":"text/plain","Mcp-Session-Id":"mine"}'`;
    open({ url: await guarded(), headers: { Authorization: "Bearer secret-old" }, headersHelper });
    expect(await call({ a: 1 })).toEqual({ a: 1 });
    expect(requestsWith("secret-old")).toBe(0);
  });

  test("also works for the older transport and for WebSockets", async () => {
    server = await networkFixture("websocket-token");
    open({
      url: `ws://127.0.0.1:${server.port}`,
      transport: "websocket",
      headersHelper: `echo '{"Authorization":"Bearer right"}'`,
    });
    expect(await call({ a: 1 })).toEqual({ a: 1 });
    await pool!.close();
    await server.kill();
    server = await networkFixture("sse");
    open({ url: `http://127.0.0.1:${server.port}/mcp`, transport: "sse", headersHelper: printsToken() });
    expect(await call({ a: 1 })).toEqual({ a: 1 });
    expect(server.lines.filter((line) => /^(?:GET|POST) /.test(line) && !line.endsWith("Bearer secret-1"))).toEqual([]);
  });

  test("does not send its headers to another host", async () => {
    await using other = await networkFixture("token");
    server = await networkFixture("http");
    const config = serverConfig("far", { url: `http://127.0.0.1:${server.port}/mcp`, cwd: folder.path });
    const { HelpedAccess } = await import("../../../src/servers/network/headers-helper.ts");
    const helper = new HeadersHelper({ ...(config as NetworkServer), headersHelper: printsToken() }, () => ({
      env: process.env,
    }));
    const access = new HelpedAccess(helper, new URL((config as NetworkServer).url), undefined);
    await (await access.fetch(`http://127.0.0.1:${other.port}/mcp`, { method: "POST" })).body?.cancel();
    await eventually(() => other.lines.length > 0);
    expect(other.lines).toEqual(["POST -"]);
  });

  test("ends when claudikins ends, with what it has started", async () => {
    open({
      url: await guarded(),
      headersHelper: `touch started; ${endless()} & ${endless()}`,
    });
    const changes = watch(folder.path);
    const calling = failure(call());
    for await (const { filename } of changes) if (filename === "started") break;
    const startedAt = performance.now();
    await pool!.close();
    expect(await calling).toStartWith("CANCELLED");
    expect(performance.now() - startedAt).toBeLessThan(5_000);
  });
});

describe("a headersHelper that is wrong", () => {
  const form = 'It must print a JSON object of strings, such as {"Authorization": "Bearer …"}, and nothing else.';
  const runIt = 'Run the line of "headersHelper" in a terminal to see what it prints.';

  test.each([
    ["prints no JSON", "echo secret-text", "printed something that is not JSON", form],
    ["prints more than JSON", `echo '{"A":"secret"}'; echo secret done`, "printed something that is not JSON", form],
    ["prints a list", `echo '["secret"]'`, "printed a list instead of a JSON object", form],
    ["prints null", "echo null", "printed null instead of a JSON object", form],
    ["prints a number", `echo '{"Authorization":12}'`, 'printed a number as the value of "Authorization"', form],
    ["prints an object", `echo '{"A":{"b":"secret"}}'`, 'printed an object as the value of "A"', form],
    ["prints a name with a space", `echo '{"a secret":"x"}'`, "printed a name that is not valid for a header", form],
    [
      "prints two lines in a value",
      `printf '%s' '{"A":"secret\\nsecret"}'`,
      'printed a value of "A" with characters that are not valid in a header',
      form,
    ],
    ["prints nothing", "true", "printed nothing", form],
    ["fails", "echo secret; echo secret >&2; exit 3", "exited with code 3", undefined],
    [
      "does not exist",
      "./no-secret-program",
      "exited with code 127",
      'A program that it names was not found: correct "headersHelper" in the config, or the PATH of claudikins.',
    ],
    ["prints without end", "yes secret", "printed more than 64 KB", undefined],
    ["is killed", "kill -9 $$", "was ended by SIGKILL", undefined],
  ])("because it %s is an error with the reason and the next step", async (_, headersHelper, what, hint) => {
    open({ url: await guarded(), headersHelper });
    const expected = `SERVER_UNAVAILABLE: Server "far" cannot be used: its headersHelper ${what}\nhint: ${hint === undefined ? "" : `${hint} `}${runIt}`;
    expect(await failure(call())).toBe(expected);
    expect(server!.lines).toEqual([]);
  });

  test("because its folder is missing names the folder", async () => {
    open({ url: await guarded(), headersHelper: "echo secret", cwd: join(folder.path, "gone") });
    expect(await failure(call())).toContain("its headersHelper cannot run: its folder MARK/gone does not exist");
  });

  test("because it does not end is stopped after ten seconds, and with it what it has started", async () => {
    open({ url: await guarded(), headersHelper: `${endless()} & ${endless()}` });
    expect(await failure(call())).toContain("its headersHelper did not end within 10 s");
    expect(await processesLeft(folder.path)).toEqual([]);
  });

  test("because it asks a question gets no answer, and does not wait", async () => {
    open({ url: await guarded(), headersHelper: `read answer; printf '{"Authorization":"Bearer secret-1"}'` });
    expect(await call({ a: 1 })).toEqual({ a: 1 });
  });
});

test("headers that a headersHelper has printed are removed from texts, also for an entry that was read again", async () => {
  changeToken("sunshine/secret+7");
  const entry = { url: await guarded(), headersHelper: printsToken() };
  const before = redactorOf(serverConfig("far", entry));
  open(entry);
  await call();
  for (const redact of [before, redactorOf(serverConfig("far", { ...entry }))]) {
    expect(redact("got Bearer sunshine/secret+7, and sunshine%2Fsecret%2B7")).toBe("got Bearer ***, and ***");
  }
  changeToken("secret-9-renewed");
  await call();
  expect(before("sunshine/secret+7 secret-9-renewed")).toBe("*** ***");
});
