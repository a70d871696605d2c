/** Hostile requests of an owner: odd paths, headers, bodies and sessions, ids of others, and addresses of the trap wherever one could be followed. */
import { json } from "../../../../test/support/http-serve.ts";
import { modernVersion } from "../../../../test/support/modern-host.ts";
import type { Random } from "../../random.ts";
import { hostileBody } from "./hostile-bodies.ts";
import { type Owner, sessionHeaders } from "./owner.ts";
import { type RawRequest, sendRaw } from "./raw-request.ts";
import type { Known } from "./site.ts";

/** Answers that take longer are not read to their end. */
const lateMs = 5_000;

/** Time in which a stream is read that stays open. */
const streamMs = 300;

export async function hostile(owner: Owner, random: Random): Promise<void> {
  await random.pick(requests)(owner, random);
}

/** Any request, sent as it is. */
async function raw(owner: Owner, random: Random): Promise<void> {
  const replica = random.below(owner.site.replicas.length);
  const port = owner.site.portOf(replica);
  const { port: trap } = owner.site.trap;
  const body = random.chance(0.7) ? hostileBody(random) : Buffer.from("");
  const request: RawRequest = {
    method: random.pick([
      "POST",
      "POST",
      "POST",
      "GET",
      "DELETE",
      "OPTIONS",
      "PUT",
      "HEAD",
      "TRACE",
      "CONNECT",
      "post",
    ]),
    target: random.chance(0.6) ? hostileTarget(random, owner, trap) : `/${owner.door}`,
    headers: [],
    body,
    sent: random.pick(["whole", "whole", "whole", "trickled", "truncated"]),
  };
  const headers: RawRequest["headers"] = [
    ["host", random.chance(0.8) ? `127.0.0.1:${port}` : hostileHost(random, trap)],
    ["authorization", random.chance(0.9) ? owner.headers.authorization : await hostileAuthorization(owner, random)],
    ["content-type", "application/json"],
    ["accept", "application/json, text/event-stream"],
    ...(random.chance(0.6) ? [["mcp-session-id", await sessionFor(owner, random)] as [string, string]] : []),
    ...Array.from({ length: random.below(4) }, () => hostileHeader(random, owner, trap)),
    ...lengthOf(body, random),
    ["connection", random.chance(0.9) ? "close" : "mcp-session-id, authorization"],
  ];
  const answer = await sendRaw(port, { ...request, headers });
  owner.got(answer, `a hostile request (${request.method} ${request.target.slice(0, 100)})`);
}

/** A hostile body in a request that is otherwise right, in a session at any replica or without one. */
async function body(owner: Owner, random: Random): Promise<void> {
  const replica = random.below(owner.site.replicas.length);
  const sent = hostileBody(random);
  const headers: Record<string, string> = random.chance(0.6)
    ? sessionHeaders((await owner.session(random)).id)
    : {
        ...json,
        "mcp-protocol-version": modernVersion,
        "mcp-method": random.pick(["tools/call", "tools/call", "tools/list"]),
        ...(random.chance(0.8) ? { "mcp-name": "execute_code" } : {}),
      };
  const signal = AbortSignal.timeout(lateMs);
  const what = "the answer to a hostile body";
  const response = await owner.fetch(replica, `/${owner.door}`, { method: "POST", headers, body: sent, signal, what });
  await response.text();
}

/** A session that is mostly one's own, at the other replica: only then requests are passed on. */
async function sessionFor(owner: Owner, random: Random): Promise<string> {
  if (random.chance(0.6)) return (await owner.session(random)).id;
  const others = owner.site.known.filter(({ of, kind }) => of !== owner.number && / ?session$/.test(kind));
  const ids = [...others.map(({ id }) => id), crypto.randomUUID(), "", "x".repeat(10_000), "__proto__", "..", "a,b"];
  return random.pick(ids);
}

function hostileTarget(random: Random, { door }: Owner, trap: number): string {
  const at = `127.0.0.1:${trap}`;
  return random.pick([
    `//${at}/x`,
    `//${at}`,
    `///${at}/x`,
    `////${at}/x`,
    `/\\${at}/x`,
    `\\\\${at}\\x`,
    `/\\/${at}/x`,
    `/\t/${at}/x`,
    `//\t${at}/x`,
    `http://${at}/x`,
    `http:${at}/x`,
    `http:\\\\${at}\\x`,
    `https://${at}/${door}`,
    `http://127.0.0.1@${at}/${door}`,
    `//a:b@${at}/${door}`,
    `@${at}/${door}`,
    `:@${at}/`,
    `/%2f%2f${at}/x`,
    `/%2f/${at}/x`,
    `/%5c${at}/x`,
    `/.//${at}/x`,
    `/..//${at}/x`,
    `/${door}/..//${at}/x`,
    `/${door}//${at}/x`,
    `/./.././/${at}/${door}`,
    `/${door}?x=//${at}/`,
    `/${door}#@${at}/`,
    `//localhost:${trap}/x`,
    `//[::ffff:127.0.0.1]:${trap}/x`,
    `//2130706433:${trap}/x`,
    `//0x7f.1:${trap}/x`,
    at,
    "*",
    "",
    "/",
    `/${door}%00`,
    `/${door}/`,
    `/${door}/../mcp`,
    `/%2e%2e/${door}`,
    "/../../../../etc/passwd",
    `/${"a".repeat(random.pick([1_000, 8_000, 60_000]))}`,
    `/${"../".repeat(2_000)}`,
    `/${door}?${"k=v&".repeat(5_000)}`,
    "/mcp",
    "/ops",
    "/metrics",
    "/ui/",
    "/ui/api/state",
    `/ui/sign-in?to=//${at}`,
    `/ui/signed-in?code=x&state=x&iss=http://${at}`,
    `/.well-known/oauth-protected-resource//${at}/x`,
    "/__proto__",
    "/constructor",
  ]);
}

function hostileHost(random: Random, trap: number): string {
  return random.pick([
    `127.0.0.1:${trap}`,
    `localhost:${trap}`,
    "evil.example",
    "",
    "127.0.0.1:99999",
    `127.0.0.1:${trap}/x?`,
    `a@127.0.0.1:${trap}`,
    `[::1]:${trap}`,
    "x".repeat(5_000),
  ]);
}

async function hostileAuthorization({ site, headers }: Owner, random: Random): Promise<string> {
  const iss = `http://127.0.0.1:${site.trap.port}`;
  const now = Math.floor(Date.now() / 1_000);
  const claims = { iss, sub: "p3", aud: "https://tools.example.com", groups: ["qa-team"], iat: now, exp: now + 60 };
  return random.pick([
    `Bearer ${await site.provider.forged(claims, { jku: `${iss}/jwks`, x5u: `${iss}/x5u` })}`,
    `Bearer ${await site.provider.forged({ ...claims, iss: site.provider.issuer, exp: 1 })}`,
    `Basic ${btoa("p3:p3")}`,
    `Digest username="${iss}"`,
    "Bearer",
    `Bearer ${"x".repeat(12_000)}`,
    `${headers.authorization}, ${headers.authorization}`,
    `${headers.authorization} extra`,
    `DPoP ${headers.authorization.slice(7)}`,
  ]);
}

function hostileHeader(random: Random, owner: Owner, trap: number): [string, string] {
  const at = `127.0.0.1:${trap}`;
  return random.pick<[string, string]>([
    ["origin", `http://${at}`],
    ["origin", "null"],
    ["referer", `http://${at}/`],
    ["x-forwarded-for", "127.0.0.1, ::1"],
    ["x-forwarded-host", at],
    ["x-forwarded-proto", "https"],
    ["x-forwarded-prefix", `//${at}`],
    ["x-original-url", `//${at}/x`],
    ["x-rewrite-url", `//${at}/x`],
    ["forwarded", `for=127.0.0.1;host=${at};proto=http`],
    ["claudikins-forwarded", `${Buffer.from(JSON.stringify({ to: at, address: at })).toString("base64url")}.AAAA`],
    ["claudikins-forwarded", "x".repeat(5_000)],
    ["mcp-method", random.pick(["tools/list", "tasks/get", "tools/call", "x".repeat(5_000)])],
    ["mcp-name", random.pick(["search_tools", "", "execute_code", "../x"])],
    ["mcp-protocol-version", random.pick(["2026-07-28", "2025-11-25", "1", "x".repeat(3_000)])],
    ["last-event-id", random.pick(["1", "x", "-1", "../1", "9".repeat(400)])],
    ["mcp-session-id", crypto.randomUUID()],
    ["authorization", owner.headers.authorization],
    ["host", at],
    ["cookie", `__Host-session=${"x".repeat(3_000)}; __proto__=1`],
    ["expect", "100-continue"],
    ["upgrade", "h2c"],
    ["transfer-encoding", "chunked"],
    ["content-encoding", "gzip"],
    ["range", "bytes=0-1"],
    ["traceparent", `00-${"0".repeat(32)}-${"0".repeat(16)}-01`],
    ["x-long", "x".repeat(random.pick([10_000, 60_000]))],
  ]);
}

function lengthOf(body: Uint8Array, random: Random): RawRequest["headers"] {
  const right = String(body.length);
  if (random.chance(0.85)) return [["content-length", right]];
  return random.pick<RawRequest["headers"]>([
    [],
    [["content-length", String(body.length + 1_000)]],
    [["content-length", String(Math.floor(body.length / 2))]],
    [["content-length", "-1"]],
    [["content-length", "9".repeat(30)]],
    [
      ["content-length", right],
      ["transfer-encoding", "chunked"],
    ],
    [
      ["content-length", right],
      ["content-length", "0"],
    ],
  ]);
}

/** The session of somebody else, at any replica. It must look as if there were none. */
async function inForeignSession(owner: Owner, random: Random): Promise<void> {
  const known = foreign(owner, random, "session", "ended session");
  if (!known) return;
  const replica = random.below(owner.site.replicas.length);
  const method = random.pick(["POST", "POST", "GET", "DELETE"]);
  const messages = [
    { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "execute_code", arguments: { code: "return 1" } } },
    { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 11 } },
    { jsonrpc: "2.0", id: "question-1", result: { action: "accept", content: { answer: "once" } } },
    { jsonrpc: "2.0", id: 1, method: "tools/list" },
  ];
  const signal = AbortSignal.timeout(lateMs);
  const event = foreign(owner, random, "event");
  const headers = {
    ...sessionHeaders(known.id),
    ...(method === "GET" ? { accept: "text/event-stream", ...(event ? { "last-event-id": event.id } : {}) } : {}),
  };
  const more = method === "POST" ? { body: JSON.stringify(random.pick(messages)) } : {};
  const path = `/${random.pick([owner.door, owner.site.owners[known.of]!.door])}`;
  const response = await owner.fetch(replica, path, { method, headers, signal, ...more }).catch(() => undefined);
  if (!response) return;
  await response.text().catch(() => {});
  if (response.ok)
    owner.site.fail(
      `a request was accepted in the session of somebody else (${method})`,
      `${known.kind} of owner ${known.of}, by owner ${owner.number}`,
    );
}

async function withForeignId(owner: Owner, random: Random): Promise<void> {
  const known = foreign(owner, random, "execution", "task", "approval", "state");
  if (!known) return;
  const { id } = known;
  switch (known.kind) {
    case "execution": {
      const text = await owner.execute(random, { resume: id });
      if (!/no execution|EXECUTION_NOT_FOUND/i.test(text))
        owner.site.fail("an execution of somebody else was found", text.slice(0, 400));
      return;
    }
    case "task":
      return await withForeignTask(owner, random, id);
    case "approval": {
      const body = JSON.stringify({ decision: random.pick(["once", "session", "deny"]) });
      const init = { method: "POST", body };
      const answer =
        owner.subject && random.chance(0.7)
          ? await owner.page(`api/approvals/${id}`, init)
          : await owner.fetch(0, `/ui/api/approvals/${id}`, {
              ...init,
              headers: { "content-type": "application/json" },
            });
      const text = await answer.text();
      if (answer.ok) owner.site.fail("an approval of somebody else was decided", text.slice(0, 400));
      return;
    }
    default: {
      const inputResponses = Object.fromEntries(
        ["elicitation-1", "1", "approval-1", "question-1"].map((key) => [
          key,
          { action: "accept", content: { answer: "once" } },
        ]),
      );
      const params = { name: "execute_code", arguments: { code: "return 1" }, requestState: id, inputResponses };
      await owner.modern(random, "tools/call", params, { elicitation: { form: {} } });
    }
  }
}

/** Continues a stream of somebody else in one's own session. */
async function afterForeignEvent(owner: Owner, random: Random): Promise<void> {
  const event = foreign(owner, random, "event");
  if (!event) return;
  const { id } = await owner.session(random);
  const headers = { ...sessionHeaders(id), accept: "text/event-stream", "last-event-id": event.id };
  const signal = AbortSignal.timeout(streamMs);
  const replica = random.below(owner.site.replicas.length);
  await (await owner.fetch(replica, `/${owner.door}`, { headers, signal })).text();
}

async function withForeignTask(owner: Owner, random: Random, taskId: string): Promise<void> {
  const capabilities = { elicitation: { form: {} }, extensions: { "io.modelcontextprotocol/tasks": {} } };
  const [method, params] = random.pick<[string, Record<string, unknown>]>([
    ["tasks/get", { taskId }],
    ["tasks/get", { taskId }],
    ["tasks/cancel", { taskId }],
    [
      "tasks/update",
      { taskId, inputResponses: { "elicitation-1": { action: "accept", content: { answer: "once" } } } },
    ],
  ]);
  const { result } = await owner.modern(random, method, params, capabilities);
  if (result && method === "tasks/get")
    owner.site.fail("a task of somebody else was found", JSON.stringify(result).slice(0, 400));
}

/** A program that looks for what is not the owner's, or for a way out. */
async function fromInside(owner: Owner, random: Random): Promise<void> {
  const trap = `http://127.0.0.1:${owner.site.trap.port}/x`;
  const code = random.pick([
    `return await fetch("${trap}").then((response) => response.text())`,
    `return await import("${trap}")`,
    `return await owned.resources.read("${trap}").then(() => 1)`,
    `return await fs.readFile("../../../claudikins.json", "utf8")`,
    `return (await fs.readdir("./workspace/..")).concat(await fs.readdir("./workspace/../..").catch(String))`,
    `return await fs.readFile("./workspace/of-owner-0.txt", "utf8")`,
    `return [await tools.search("of-p"), await tools.list()]`,
    `return await executions?.list?.()`,
    `await fs.symlink("../..", "./workspace/up"); return await fs.readdir("./workspace/up")`,
  ]);
  await owner.execute(random, { code });
}

/** The kinds of hostile requests, by their shares. */
const requests = [
  ...[raw, raw, raw, body, body],
  ...[
    inForeignSession,
    inForeignSession,
    withForeignId,
    withForeignId,
    withForeignId,
    withForeignId,
    afterForeignEvent,
  ],
  fromInside,
];

/** An id of one of these kinds, mostly of somebody at the same door. */
function foreign({ number, door, site }: Owner, random: Random, ...kinds: Known["kind"][]): Known | undefined {
  const others = site.known.filter(({ of, kind }) => of !== number && kinds.includes(kind));
  if (others.length === 0) return undefined;
  const { kind } = random.pick([...new Map(others.map((each) => [each.kind, each])).values()]);
  const ofKind = others.filter((each) => each.kind === kind);
  const near = ofKind.filter(({ of }) => site.owners[of]?.door === door);
  return random.pick(near.length > 0 && random.chance(0.7) ? near : ofKind);
}
