/** Webhooks of `serve --http`: real requests to a real process. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { createHmac } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { cli } from "../cli/in-memory.ts";
import { eventually } from "../support/eventually.ts";
import { type HttpServe, httpServe } from "../support/http-serve.ts";
import { fixture } from "../support/servers.ts";
import { temporaryFolder } from "../support/temporary.ts";

setDefaultTimeout(60_000);

const folder = temporaryFolder();
const counts = join(folder.path, "counts");
let door: HttpServe;
let secret: string;
let address: string;

const env = { XDG_DATA_HOME: join(folder.path, "data"), CLAUDIKINS_DAEMON: "off", HOOK: "slack secret" };

async function claudikins(...argv: string[]) {
  const { exitCode, stdout, stderr } = await cli(argv, { cwd: folder.path, env });
  if (exitCode !== 0) throw new Error(stderr);
  return stdout;
}

beforeAll(async () => {
  folder.write("claudikins.json", { mcpServers: { counting: fixture("counting", counts) } });
  folder.write("triage.ts", "await counting.act({ name: input.event.body.title }); return { got: input.event };");
  folder.write("read.ts", "return { read: await counting.read({ name: input.event.type }) };");
  const schema = '{"type":"object","properties":{"event":{"type":"object"}}}';
  for (const name of ["triage", "read"]) {
    await claudikins("programs", "save", `${name}.ts`, "--name", name, "--input-schema", schema);
  }
  const made = JSON.parse(await claudikins("programs", "on", "triage", "--webhook", "github", "--json"));
  secret = made.secret;
  address = made.trigger.path;
  door = await httpServe(folder, [], { env });
});

afterAll(async () => {
  await door[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

const sign = (body: string, key = secret) => `sha256=${createHmac("sha256", key).update(body).digest("hex")}`;

function post(body: string, headers: Record<string, string> = {}, path = address) {
  const signed = { "x-hub-signature-256": sign(body), "x-github-event": "issues" };
  return fetch(new URL(path, door.url), {
    method: "POST",
    headers: { "content-type": "application/json", ...signed, ...headers },
    body,
  });
}

const calls = () => (existsSync(counts) ? readFileSync(counts, "utf8").trim().split("\n") : []);

const listed = async () =>
  JSON.parse(await claudikins("programs", "deliveries", "--json")).deliveries as { id: string; state: string }[];

test("an event is answered at once with an id, and starts the program once", async () => {
  const body = JSON.stringify({ title: "first" });
  const answers = [await post(body), await post(body), await post(body, { "x-github-delivery": "another" })];
  expect(answers.map(({ status }) => status)).toEqual([202, 202, 202]);
  const [first, ...others] = (await Promise.all(answers.map((each) => each.json()))) as { delivery: string }[];
  for (const other of others) expect(other).toEqual({ delivery: first!.delivery, known: true } as never);
  await eventually(async () => (await listed()).find(({ id }) => id === first!.delivery)?.state === "done");
  expect(calls()).toEqual(['["act","first"]']);
  const list = await claudikins("executions", "list", "--json");
  expect(JSON.parse(list).executions[0]).toMatchObject({ startedBy: "event", code: "programs.triage", ok: true });
  expect(await claudikins("programs", "show", "triage")).toContain(
    `triage: webhook (github) at ${address}; at most 60`,
  );
});

describe("the same answer comes for", () => {
  const answer = '{"error":"Nothing is served here for this request"}';
  const body = '{"title":"evil"}';
  const cases: [string, () => Promise<Response>][] = [
    ["an unknown address", () => post(body, {}, "/hooks/unknown")],
    ["no address", () => post(body, {}, "/hooks/")],
    ["another path", () => post(body, {}, "/hooks/a/b?c")],
    ["a wrong signature", () => post(body, { "x-hub-signature-256": sign(`${body} `) })],
    ["another secret", () => post(body, { "x-hub-signature-256": sign(body, "guess") })],
    ["no signature", () => post(body, { "x-hub-signature-256": "" })],
    ["another method", () => fetch(new URL(address, door.url))],
  ];
  test.each(cases)("%s", async (_, send) => {
    const response = await send();
    expect([response.status, await response.text()]).toEqual([404, answer]);
  });
  test("and nothing is started", () => expect(calls()).toHaveLength(1));
});

test("a body that is too large is refused before it is read", async () => {
  const large = await post(JSON.stringify({ text: "x".repeat(1_100_000) }));
  expect(large.status).toBe(413);
  // Its length is not announced.
  let sent = 0;
  const endless = new ReadableStream({
    pull: (controller) => {
      sent += 65_536;
      controller.enqueue(new Uint8Array(65_536));
    },
  });
  const init = { method: "POST", body: endless, duplex: "half" } as RequestInit;
  const unannounced = await fetch(new URL(address, door.url), init).catch(() => undefined);
  expect([413, undefined]).toContain(unannounced?.status);
  expect(sent).toBeLessThan(100_000_000);
  const { hostname, port } = new URL(door.url);
  const { promise, resolve } = Promise.withResolvers<string>();
  const socket = connect(Number(port), hostname, () => {
    socket.write(
      `POST ${address} HTTP/1.1\r\nHost: ${hostname}\r\nContent-Type: application/json\r\nContent-Length: 104857600\r\n\r\n{`,
    );
  });
  socket.on("data", (data) => resolve(data.toString()));
  socket.on("error", () => resolve("error"));
  expect(await promise).toStartWith("HTTP/1.1 413");
  socket.destroy();
});

test("a body that is neither JSON nor a form is refused, and a check of the sender starts nothing", async () => {
  const text = await post("hello");
  expect(text.status).toBe(415);
  const check = await post('{"zen":"Keep it simple"}', { "x-github-event": "ping" });
  expect([check.status, await check.json()]).toEqual([200, { ok: true }]);
  expect(calls()).toHaveLength(1);
});

test("Slack gets its challenge, with a secret from a variable, and the result if that was chosen", async () => {
  const flags = ["--webhook", "slack", "--secret", "${HOOK}", "--answer", "result", "--json"];
  const { trigger, secret: none } = JSON.parse(await claudikins("programs", "on", "read", ...flags));
  expect(none).toBeUndefined();
  const send = (body: string, atMs = Date.now()) => {
    const time = String(Math.floor(atMs / 1_000));
    const signature = `v0=${createHmac("sha256", env.HOOK).update(`v0:${time}:${body}`).digest("hex")}`;
    return post(body, { "x-slack-request-timestamp": time, "x-slack-signature": signature }, trigger.path);
  };
  const challenge = '{"type":"url_verification","challenge":"abc"}';
  // The address is known a moment after the trigger was added.
  await eventually(async () => (await send(challenge)).status === 200);
  expect(await (await send(challenge)).text()).toBe("abc");
  expect((await send(challenge, Date.now() - 301_000)).status).toBe(404);
  const answered = await send('{"type":"event_callback","event":{"type":"app_mention"}}');
  expect(await answered.json()).toEqual({ delivery: expect.any(String), ok: true, value: { read: { count: 2 } } });
  expect(answered.status).toBe(200);
});

test("a flood is refused cheaply, and other requests are answered meanwhile", async () => {
  const flood = { stops: false, sent: 0 };
  const send = async () => {
    while (!flood.stops) {
      const response = await post(
        '{"x":1}',
        { "x-hub-signature-256": "sha256=00" },
        flood.sent % 2 ? address : "/hooks/no",
      );
      flood.sent += 1;
      expect([404, 429]).toContain(response.status);
      await response.text();
    }
  };
  const senders = Array.from({ length: 20 }, send);
  await eventually(() => flood.sent > 1_500);
  const limited = await post('{"title":"late"}');
  expect([limited.status, limited.headers.get("retry-after")]).toEqual([429, "60"]);
  const times: number[] = [];
  for (let ping = 0; ping < 20; ping++) {
    const begin = performance.now();
    expect((await fetch(new URL("/healthz", door.url))).status).toBe(200);
    times.push(performance.now() - begin);
  }
  flood.stops = true;
  await Promise.all(senders);
  expect(times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)]).toBeLessThan(100);
  expect(door.stderr()).not.toContain(secret);
});

test("a sender is asked to try again while the secret cannot be read", async () => {
  const argv = ["programs", "on", "read", "--webhook", "github", "--secret", "${LATER}", "--json"];
  const { exitCode, stdout, stderr } = await cli(argv, { cwd: folder.path, env: { ...env, LATER: "later" } });
  expect([exitCode, stderr]).toEqual([0, expect.any(String)]);
  const { path } = JSON.parse(stdout).trigger;
  // A new address is known a moment later.
  const answer = await eventually(async () => {
    const got = await post("{}", { "x-hub-signature-256": sign("{}", "later") }, path);
    return got.status === 404 ? undefined : got;
  });
  expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "60"]);
});

test("a trigger that is removed ends its address and its secret", async () => {
  expect(await claudikins("secrets", "list")).toContain("HOOK_TRIAGE_");
  await claudikins("programs", "off", "triage");
  expect(await claudikins("secrets", "list")).not.toContain("HOOK_TRIAGE_");
  await eventually(async () => (await post('{"title":"x"}')).status === 404);
});
