/** Tokens of `serve --http`: what each opens, what belongs to it, and what ends with it. */
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { takeLock } from "../../src/base/lock.ts";
import { type AskedToken, issueToken, revokeTokens } from "../../src/serve/tokens/manage.ts";
import { changeTokens, readTokens, type StoredToken } from "../../src/serve/tokens/token-file.ts";
import { eventually } from "../support/eventually.ts";
import {
  eventsOf,
  executeRequest,
  type HttpServe,
  httpServe,
  initialize,
  json,
  type RawSession,
  rawSession,
  resultText,
} from "../support/http-serve.ts";
import { modernAnswer, modernRequest } from "../support/modern-host.ts";
import { processesWith } from "../support/process.ts";
import { fixture } from "../support/servers.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary.ts";

setDefaultTimeout(60_000);

let folder: TemporaryFolder;
let env: Record<string, string>;
let serving: HttpServe;

beforeEach(() => {
  folder = temporaryFolder();
  env = { XDG_DATA_HOME: join(folder.path, "data") };
  folder.write("claudikins.json", {
    mcpServers: { newer: fixture("modern", "reject", folder.path) },
    doors: { qa: { servers: ["newer"] }, other: { servers: [] } },
  });
});
afterEach(async () => {
  serving.signal("SIGTERM");
  expect(await serving.exited).toBe(0);
  expect(processesWith(folder.path)).toEqual([]);
  folder[Symbol.dispose]();
});

const start = async (...flags: string[]) => {
  serving = await httpServe(folder, flags, { token: "kept", env: { CLAUDIKINS_LOG: "debug" } });
};

type Bearer = { authorization: string };
const bearer = (token: string): Bearer => ({ authorization: `Bearer ${token}` });
const fixed = () => bearer(readFileSync(serving.tokenFile!, "utf8").trim());

async function issue(asked: Partial<AskedToken> = {}): Promise<{ headers: Bearer; stored: StoredToken }> {
  const { token, stored } = await issueToken({ config: join(folder.path, "claudikins.json"), ...asked }, env);
  return { headers: bearer(token), stored };
}

const at = (path: string) => new URL(path, serving.url).href;
const session = (headers: Bearer, path = "/mcp", name = "raw", capabilities = {}) =>
  rawSession(at(path), "2025-11-25", capabilities, name, headers);

/** The status and the text of an answer to `initialize`. */
async function knock(headers: Bearer | undefined, path: string, init: RequestInit = {}): Promise<[number, string]> {
  const body = JSON.stringify(initialize());
  const more = init.method === undefined ? { body } : {};
  const response = await fetch(at(path), { method: "POST", ...more, ...init, headers: { ...json, ...headers } });
  const text = await response.text();
  return [response.status, response.ok ? "" : JSON.parse(text).error.message];
}

const modern = (headers: Bearer, method: string, params = {}, more: { path?: string; name?: string } & object = {}) =>
  modernAnswer(at(more.path ?? "/mcp"), method, params, { headers, ...more } as never);

/** Runs code as a client of the revision without sessions. */
const execute = async (headers: Bearer, args: object, more = {}) => {
  const { result, error } = await modern(headers, "tools/call", { name: "execute_code", arguments: args }, more);
  return result?.content?.[0]?.text.replace(/\n\n\[[^\n]*\]$/, "") ?? JSON.stringify(error ?? result);
};

describe("a token", () => {
  test("opens every address of its config, or the address of its door and no other", async () => {
    await start();
    const whole = await issue();
    const qa = await issue({ door: "qa", name: "ci" });
    const foreign = await issue({ door: "qa", config: "/elsewhere/claudikins.json" });
    for (const path of ["/mcp", "/qa", "/other"]) {
      expect([path, await knock(whole.headers, path), await knock(fixed(), path)]).toEqual([
        path,
        [200, ""],
        [200, ""],
      ]);
      expect(await knock(foreign.headers, path)).toEqual([401, "The token is wrong"]);
      expect(await knock(undefined, path)).toEqual([401, "A token is required: Authorization: Bearer …"]);
    }
    expect(await knock(qa.headers, "/qa")).toEqual([200, ""]);
    expect((await modern(qa.headers, "tools/list", {}, { path: "/qa" })).status).toBe(200);
    const refused = [404, "Nothing is served at this path: the token opens only /qa"];
    for (const path of ["/mcp", "/other", "/nope", "/qa/", "/__proto__", "/"]) {
      for (const method of ["POST", "GET", "DELETE"]) {
        expect([path, method, await knock(qa.headers, path, { method })]).toEqual([path, method, refused as never]);
      }
      const { status, error } = await modern(qa.headers, "tools/list", {}, { path });
      expect([status, error?.message]).toEqual(refused as never);
    }
  });

  test("opens /mcp where only its door is served", async () => {
    await start("--door", "qa");
    const [whole, qa, other] = [await issue(), await issue({ door: "qa" }), await issue({ door: "other" })];
    for (const { headers } of [whole, qa]) expect(await knock(headers, "/mcp")).toEqual([200, ""]);
    expect(await knock(qa.headers, "/qa")).toEqual([404, "Nothing is served at this path: the token opens only /mcp"]);
    for (const path of ["/mcp", "/other", "/qa"]) {
      const message = "Nothing is served at this path: the token opens only /other";
      expect(await knock(other.headers, path)).toEqual([404, message]);
    }
  });

  test("opens nothing if the config no longer has its door", async () => {
    await start();
    const gone = await issue({ door: "gone" });
    expect(await knock(gone.headers, "/gone")).toEqual([
      404,
      "Nothing is served at this path: the token opens only /gone",
    ]);
  });

  test("is accepted as soon as it is made, and refused as soon as it is revoked or has expired", async () => {
    await start();
    expect(await knock(bearer("ck_nobody-has-this-token-00000000"), "/mcp")).toEqual([401, "The token is wrong"]);
    const { headers, stored } = await issue();
    const short = await issue({ lifeMs: 3_000 });
    expect([await knock(headers, "/mcp"), await knock(short.headers, "/mcp")]).toEqual([
      [200, ""],
      [200, ""],
    ]);
    await revokeTokens([stored], env);
    expect(await knock(headers, "/mcp")).toEqual([401, "The token is wrong"]);
    await eventually(async () => (await knock(short.headers, "/mcp"))[0] === 401);
    expect(await knock(short.headers, "/mcp")).toEqual([401, "The token has expired"]);
  });

  test("is not accepted while others can read or change the file", async () => {
    await start();
    const { headers } = await issue();
    const file = join(folder.path, "data/claudikins/tokens.json");
    for (const mode of [0o644, 0o620]) {
      Bun.spawnSync(["chmod", mode.toString(8), file]);
      expect(await knock(headers, "/mcp")).toEqual([401, "The token is wrong"]);
      expect(await knock(fixed(), "/mcp")).toEqual([200, ""]);
      Bun.spawnSync(["chmod", "600", file]);
      expect(await knock(headers, "/mcp")).toEqual([200, ""]);
    }
    expect(serving.stderr()).toContain(`Others can read or change ${file}, so no token in it is accepted`);
  });
});

test("with a config that is not trusted any more, tokens are accepted, and no door is known", async () => {
  const [whole, qa] = [await issue(), await issue({ door: "qa" })];
  serving = await httpServe(folder, [], { token: "kept", env: { CI: "" } });
  expect(await knock(whole.headers, "/mcp")).toEqual([200, ""]);
  expect(await knock(qa.headers, "/qa")).toEqual([404, "Nothing is served at this path: the token opens only /qa"]);
  expect(await execute(whole.headers, { code: "return 1" })).toContain("is not trusted yet");
});

test("without a required token, tokens change nothing", async () => {
  serving = await httpServe(folder);
  const { headers } = await issue({ door: "qa" });
  for (const path of ["/mcp", "/qa"]) expect(await knock(headers, path)).toEqual([200, ""]);
});

describe("everything that a token began", () => {
  const ping = { jsonrpc: "2.0", id: 9, method: "ping" };
  const slow = "await sleep(1_000); return 'mine'";
  const idIn = (text: string) => /\{"resume": "(\w+)"\}/.exec(text)?.[1] ?? text;

  test("does not exist for another token: sessions and programs, in both eras", async () => {
    await start();
    const [a, b] = [(await issue()).headers, (await issue()).headers];
    const own = await session(a);
    const as = (headers: Bearer) =>
      fetch(serving.url, {
        method: "POST",
        headers: { ...json, ...headers, "mcp-session-id": own.id },
        body: JSON.stringify(ping),
      });
    expect([(await as(a)).status, (await as(b)).status, (await as(fixed())).status]).toEqual([200, 404, 404]);
    const ids = [
      idIn(await execute(a, { code: slow, background: true })),
      idIn(await resultText(await own.post(inBackground(1, slow)))),
    ];
    await own.end();
    for (const id of ids) {
      for (const headers of [b, fixed()]) {
        expect(await execute(headers, { resume: id })).toContain(`There is no execution "${id}"`);
        const other = await session(headers);
        const resume = { jsonrpc: "2.0", id: 2, method: "tools/call", params: resuming(id) };
        expect(await resultText(await other.post(resume))).toContain(`There is no execution "${id}"`);
      }
      expect(await execute(a, { resume: id })).toBe("mine");
    }
  });

  test("does not take the places of another token, in both eras", async () => {
    await start();
    const [a, b] = [(await issue()).headers, (await issue()).headers];
    const old = await session(b);
    const leaving = new AbortController();
    const kept = await listen(b, "b", { signal: leaving.signal });
    let hasEnded = false;
    const end = endOf(kept).then(() => {
      hasEnded = true;
    });
    const streams: Response[] = [];
    for (let each = 0; each < 200; each++) await session(a, "/mcp", `name-${each}`);
    for (let each = 0; each < 200; each++) {
      const stream = await listen(a, `name-${each}`);
      expect(stream.status).toBe(200);
      streams.push(stream);
    }
    expect(hasEnded).toBe(false);
    expect((await old.post(ping)).status).toBe(200);
    expect((await session(b, "/mcp", "second")).id).not.toBe("");
    expect((await session(fixed(), "/mcp", "third")).id).not.toBe("");
    expect(await execute(b, { code: "return 1" })).toBe("1");
    expect(await execute(fixed(), { code: "return 1" })).toBe("1");
    for (const stream of streams) await stream.body?.cancel();
    leaving.abort();
    await end;
  });
});

const inBackground = (id: number, code: string) => ({
  jsonrpc: "2.0",
  id,
  method: "tools/call",
  params: { name: "execute_code", arguments: { code, background: true } },
});
const resuming = (id: string) => ({ name: "execute_code", arguments: { resume: id } });

const tasksCapability = { extensions: { "io.modelcontextprotocol/tasks": {} } };

/** A stream that stays open, for changes of a task. */
function listen(headers: Bearer, name = "raw", more: RequestInit = {}): Promise<Response> {
  const params = { notifications: { taskIds: ["any"] } };
  return modernRequest(serving.url, "subscriptions/listen", params, {
    headers,
    name,
    capabilities: tasksCapability,
    ...more,
  });
}

/** Reads a stream to its end. Returns the time of the end. */
async function endOf(response: Response): Promise<number> {
  try {
    for await (const _ of eventsOf(response));
  } catch {
    // The connection was cut.
  }
  return performance.now();
}

describe.each(["revoked", "expired"] as const)(
  "within a second after a token was %s, everything that it began ends",
  (how) => {
    const elicitation = { elicitation: { form: {} } };

    /** Ends the token. Returns when it ended. */
    async function end({ stored }: { stored: StoredToken }): Promise<number> {
      if (how === "revoked") {
        await revokeTokens([stored], env);
        return performance.now();
      }
      const leftMs = 300;
      await changeTokens(env, (tokens) => {
        for (const each of tokens) if (each.hash === stored.hash) each.expiresAt = Date.now() + leftMs;
      });
      await Bun.sleep(leftMs);
      return performance.now();
    }
    const servers = () => processesWith(folder.path).filter((pid) => pid !== serving.pid).length;
    const waiting = async () => Number(JSON.parse(await execute(fixed(), { code: "return await newer.waiting({})" })));
    const marked = (mark: string) =>
      `while (true) { await fs.appendFile("./workspace/${mark}", "x"); await sleep(50); }`;
    const sizeOf = (mark: string) => {
      try {
        return readFileSync(join(folder.path, ".claudikins/workspace", mark)).length;
      } catch {
        return 0;
      }
    };
    async function expectStopped(...marks: string[]): Promise<void> {
      const sizes = marks.map(sizeOf);
      await Bun.sleep(400);
      expect(marks.map(sizeOf)).toEqual(sizes);
    }

    test("sessions, their streams and calls, and programs in the background", async () => {
      await start();
      const issued = await issue();
      const own = await session(issued.headers);
      const asked = await session(issued.headers, "/mcp", "asked", elicitation);
      const open = [await own.get(), await own.post(executeRequest(1, "await newer.wait({})"))];
      await asked.post(executeRequest(1, `${marked("asked")}`));
      await resultText(await own.post(inBackground(2, marked("background"))));
      await asked.post(executeRequest(2, "void newer.wait({}); await sleep(20_000)"));
      await eventually(async () => sizeOf("background") > 0 && sizeOf("asked") > 0 && (await waiting()) === 1);
      // The server that all share, and the one of the session that can be asked.
      await eventually(() => servers() === 2);
      const ends = open.map(endOf);
      const endedAt = await end(issued);
      for (const each of await Promise.all(ends)) expect(each - endedAt).toBeLessThan(1_000);
      await eventually(async () => (await waiting()) === 0);
      expect(performance.now() - endedAt).toBeLessThan(2_000);
      await expectStopped("background", "asked");
      await eventually(() => servers() === 1);
      const message = how === "revoked" ? "The token is wrong" : "The token has expired";
      expect(await knock(issued.headers, "/mcp")).toEqual([401, message]);
      expect((await own.post({ jsonrpc: "2.0", id: 9, method: "ping" })).status).toBe(401);
      expect((await session(fixed())).id).not.toBe("");
    });

    test("clients without sessions: subscriptions, calls, parked requests, tasks and their own servers", async () => {
      await start();
      const issued = await issue();
      const { headers } = issued;
      const call = (code: string, more = {}) =>
        modernRequest(serving.url, "tools/call", { name: "execute_code", arguments: { code } }, { headers, ...more });
      const stream = await listen(headers);
      const slow = call("await newer.wait({})").then(endOf);
      const parked = await call("await Promise.all([newer.wait({}), newer.greet({})])", { capabilities: elicitation });
      expect(await parked.text()).toContain("input_required");
      const capabilities = { ...elicitation, ...tasksCapability };
      const code = `void newer.greet({}); ${marked("task")}`;
      const task = await modernAnswer(
        serving.url,
        "tools/call",
        { name: "execute_code", arguments: { code } },
        { headers, capabilities },
      );
      expect(task.result).toMatchObject({ resultType: "task" });
      await eventually(async () => sizeOf("task") > 0 && (await waiting()) === 1);
      // The shared server, and one for each set of capabilities.
      expect(servers()).toBeGreaterThan(1);
      const ends = [endOf(stream), slow];
      const endedAt = await end(issued);
      for (const each of await Promise.all(ends)) expect(each - endedAt).toBeLessThan(1_000);
      await eventually(async () => (await waiting()) === 0);
      expect(performance.now() - endedAt).toBeLessThan(2_000);
      await expectStopped("task");
      await eventually(() => servers() === 1);
    });

    test("in direct mode: streams, subscriptions, calls and servers, in both eras", async () => {
      await start("--mode", "direct");
      const issued = await issue();
      const { headers } = issued;
      const own = await session(headers);
      const call = { name: "wait", arguments: {} };
      const listening = { notifications: { toolsListChanged: true } };
      const open = [
        await own.get(),
        await own.post({ jsonrpc: "2.0", id: 1, method: "tools/call", params: call }),
        await modernRequest(serving.url, "subscriptions/listen", listening, { headers }),
      ];
      const slow = modernRequest(serving.url, "tools/call", call, { headers }).then(endOf);
      // One for the lists, and one for each client.
      await eventually(() => servers() === 3);
      const ends = [...open.map(endOf), slow];
      const endedAt = await end(issued);
      for (const each of await Promise.all(ends)) expect(each - endedAt).toBeLessThan(1_000);
      await eventually(() => servers() === 1);
      expect((await modernAnswer(serving.url, "tools/call", call, { headers })).status).toBe(401);
    });
  },
);

test("the time of a use is written later if the file is locked, and no token that is made meanwhile is lost", async () => {
  await start();
  const file = join(env["XDG_DATA_HOME"]!, "claudikins/tokens.json");
  const first = await issue();
  const lock = (await takeLock(`${file}.lock`, "the tokens"))!;
  const askedAt = performance.now();
  expect(await knock(first.headers, "/mcp")).toEqual([200, ""]);
  expect(performance.now() - askedAt).toBeLessThan(1_000);
  await eventually(() => serving.stderr().includes("Cannot write when tokens were used last"));
  expect(await knock(first.headers, "/mcp")).toEqual([200, ""]);
  lock.release();
  const others = [];
  for (let each = 0; each < 10; each++) {
    const issued = await issue();
    others.push(knock(issued.headers, "/mcp"));
  }
  expect(await Promise.all(others)).toEqual(others.map(() => [200, ""]));
  serving.signal("SIGTERM");
  expect(await serving.exited).toBe(0);
  expect(readTokens(env).map(({ lastUsedAt }) => typeof lastUsedAt)).toEqual(Array(11).fill("number"));
});

test("the time of the last use is written with the first use, and the token itself nowhere", async () => {
  await start();
  const { headers, stored } = await issue({ name: "ci" });
  const token = headers.authorization.slice("Bearer ".length);
  const own: RawSession = await session(headers);
  await eventually(() => readTokens(env)[0]?.lastUsedAt !== undefined);
  const first = readTokens(env)[0]?.lastUsedAt ?? 0;
  const later = await issue({ name: "later" });
  await Bun.sleep(20);
  await own.post({ jsonrpc: "2.0", id: 1, method: "ping" });
  expect(readTokens(env)[0]?.lastUsedAt).toBe(first);
  await execute(headers, { code: "return process.env" });
  await knock(headers, "/nope");
  await revokeTokens([later.stored], env);
  serving.signal("SIGTERM");
  expect(await serving.exited).toBe(0);
  // The last use is written at the end, and a revoked token stays revoked.
  expect(readTokens(env)).toMatchObject([{ hash: stored.hash, name: "ci", lastUsedAt: expect.any(Number) }]);
  expect(readTokens(env)[0]?.lastUsedAt).toBeGreaterThan(first);
  const files = Bun.spawnSync(["grep", "-rl", token, folder.path]).stdout.toString();
  expect([files, serving.stderr().includes(token)]).toEqual(["", false]);
});
