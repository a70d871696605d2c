/** The call log of `serve --http`: it equals what the servers saw, call by call, with the person or the token of each. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { issueToken } from "../../src/serve/tokens/manage.ts";
import { tokenId } from "../../src/serve/tokens/token-file.ts";
import type { StoredCall } from "../../src/store/call-log.ts";
import { cli } from "../cli/in-memory.ts";
import { executeRequest, type HttpServe, httpServe, rawSession, resultText } from "../support/http-serve.ts";
import { modernAnswer } from "../support/modern-host.ts";
import { type OidcFixture, oidcFixture } from "../support/oidc.ts";
import { type OtlpReceiver, OtlpReceiver as Receiver } from "../support/otlp.ts";
import { fixture } from "../support/servers.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary.ts";

setDefaultTimeout(120_000);

const audience = "https://tools.example.com";
let provider: OidcFixture;
let folder: TemporaryFolder;
let receiver: OtlpReceiver;
let serving: HttpServe | undefined;

beforeAll(async () => {
  provider = await oidcFixture({ ann: { groups: ["team"], email: "ann@example.com" }, bob: { groups: ["team"] } });
});
afterAll(() => provider[Symbol.asyncDispose]());
beforeEach(() => {
  folder = temporaryFolder();
  receiver = new Receiver();
});
afterEach(() => {
  serving?.signal("SIGTERM");
  receiver[Symbol.dispose]();
  folder[Symbol.dispose]();
});

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

async function start(config: object = {}, env: Record<string, string> = {}): Promise<HttpServe> {
  folder.write("claudikins.json", {
    mcpServers: { rec: { ...fixture("recording", join(folder.path, "got.jsonl")), definitions: "trust" } },
    doors: { direct: { mode: "direct" }, team: {} },
    auth: {
      oidc: { issuer: provider.issuer, audience, scopes: ["tools"], doors: { team: ["team"], direct: ["team"] } },
    },
    ...config,
  });
  serving = await httpServe(folder, [], { token: "kept", env: { CLAUDIKINS_DAEMON: "off", ...env } });
  return serving;
}

async function stop(): Promise<void> {
  serving?.signal("SIGTERM");
  expect(await serving?.exited).toBe(0);
  serving = undefined;
}

const at = (path: string) => new URL(path, serving!.url).href;

/** The arguments of the calls that the server got, in the order in which it got them. */
function got(): unknown[] {
  const file = join(folder.path, "got.jsonl");
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, "utf8").trim().split("\n");
  return lines.map((line) => JSON.parse(line)).flatMap(({ name, args }) => (name === undefined ? [] : [args.key]));
}

async function calls(...argv: string[]): Promise<StoredCall[]> {
  const env = { XDG_DATA_HOME: join(folder.path, "data") };
  const { stdout } = await cli(["calls", "export", ...argv], { cwd: folder.path, env });
  return stdout
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

test("equals what the server saw, for tokens and people, programs and single calls, in both eras", async () => {
  await start();
  const { token, stored } = await issueToken(
    { config: join(folder.path, "claudikins.json"), name: "ci" },
    { XDG_DATA_HOME: join(folder.path, "data") },
  );
  const ids = { ci: tokenId(stored) };
  const run = async (path: string, key: string, access: string, agent: string) => {
    const session = await rawSession(at(path), "2025-11-25", {}, agent, bearer(access));
    const text = await resultText(
      await session.post(executeRequest(2, `return await rec["add-it"]({ key: "${key}" })`)),
    );
    expect(text).toContain("did add-it");
  };
  const direct = async (key: string, access: string) => {
    const session = await rawSession(at("/direct"), "2025-11-25", {}, "directly", bearer(access));
    const params = { name: "add-it", arguments: { key } };
    await (await session.post({ jsonrpc: "2.0", id: 2, method: "tools/call", params })).text();
  };
  const modern = async (path: string, name: string, args: object, access: string) =>
    modernAnswer(at(path), "tools/call", { name, arguments: args }, {
      headers: bearer(access),
      name: "modern",
    } as never);
  const [ann, bob] = [await provider.token("ann"), await provider.token("bob")];
  await run("/mcp", "token-code", token, "by token");
  await direct("token-direct", token);
  await run("/team", "ann-code", ann, "of ann");
  await direct("ann-direct", ann);
  await direct("bob-direct", bob);
  await modern("/team", "execute_code", { code: 'return await rec["add-it"]({ key: "bob-modern" })' }, bob);
  await modern("/direct", "add-it", { key: "token-modern" }, token);
  await modern("/mcp", "execute_code", { code: 'for (const key of ["a", "b"]) await rec["add-it"]({ key })' }, token);
  await stop();

  const all = await calls();
  expect(got()).toEqual([
    "token-code",
    "token-direct",
    "ann-code",
    "ann-direct",
    "bob-direct",
    "bob-modern",
    "token-modern",
    "a",
    "b",
  ]);
  const who = ({ personName, token: id }: StoredCall) => personName ?? (id === ids.ci ? "ci" : id);
  expect(
    all.map((call) => [
      who(call),
      call.door,
      call.agent?.split(" ").slice(0, 2).join(" "),
      call.execution === null,
      call.sent,
    ]),
  ).toEqual([
    ["ci", null, "by token", false, 1],
    ["ci", "direct", "directly 1", true, 1],
    ["ann@example.com", "team", "of ann", false, 1],
    ["ann@example.com", "direct", "directly 1", true, 1],
    ["bob", "direct", "directly 1", true, 1],
    ["bob", "team", "modern 1", false, 1],
    ["ci", "direct", "modern 1", true, 1],
    ["ci", null, "modern 1", false, 1],
    ["ci", null, "modern 1", false, 1],
  ]);
  expect(
    all.every(({ startedBy, outcome, server }) => startedBy === "serve" && outcome === "ok" && server === "rec"),
  ).toBe(true);
  expect(new Set(all.slice(-2).map(({ execution }) => execution)).size).toBe(1);
  expect((await calls("--user", "ann@example.com")).map(({ door }) => door)).toEqual(["team", "direct"]);
  expect(await calls("--user", "ci")).toHaveLength(5);
});

test("is sent as log records by choice, and spans name the person by choice", async () => {
  const env = { OTEL_BLRP_SCHEDULE_DELAY: "50", OTEL_BSP_SCHEDULE_DELAY: "50" };
  await start({ telemetry: { endpoint: receiver.url, calls: true, people: true }, callLog: { keepDays: 0 } }, env);
  const session = await rawSession(at("/team"), "2025-11-25", {}, "of ann", bearer(await provider.token("ann")));
  const code = 'await rec["add-it"]({ key: "secret" });';
  await resultText(await session.post(executeRequest(2, code)));
  await stop();
  const sent = receiver.lines.filter(({ event }) => event === "claudikins.call");
  expect(sent.map(({ text, severity }) => [text, severity])).toEqual([["ok rec.add-it", "INFO"]]);
  expect(sent[0]!.attributes).toMatchObject({
    "claudikins.server": "rec",
    "gen_ai.tool.name": "add-it",
    "claudikins.outcome": "ok",
    "user.name": "ann@example.com",
    "claudikins.door": "team",
    "claudikins.agent": "of ann 1",
    "claudikins.call.number": 1,
    "claudikins.call.sent": 1,
  });
  expect(JSON.stringify(receiver.lines)).not.toContain("secret");
  const id = sent[0]!.attributes["user.id"];
  const named = receiver.spans.filter(({ attributes }) => attributes["user.id"] === id).map(({ name }) => name);
  expect(new Set(named)).toEqual(new Set(["tools/call execute_code", "execution", "tools/call add-it"]));
  // Nothing is kept.
  expect(await calls()).toEqual([]);
});

test("names nobody in telemetry without the settings", async () => {
  const env = { OTEL_BLRP_SCHEDULE_DELAY: "50", OTEL_BSP_SCHEDULE_DELAY: "50" };
  await start({ telemetry: { endpoint: receiver.url } }, env);
  const session = await rawSession(at("/team"), "2025-11-25", {}, "of ann", bearer(await provider.token("ann")));
  await resultText(await session.post(executeRequest(2, 'await rec["add-it"]({ key: "a" })')));
  await stop();
  expect(receiver.spans.length).toBeGreaterThan(2);
  expect(receiver.spans.filter(({ attributes }) => "user.id" in attributes)).toEqual([]);
  expect(receiver.lines.filter(({ event }) => event === "claudikins.call")).toEqual([]);
  expect(await calls()).toHaveLength(1);
});
