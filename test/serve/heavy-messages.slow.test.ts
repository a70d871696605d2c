/** Messages that would take long to read do not keep a ping of another token waiting. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { issueToken } from "../../src/serve/tokens/manage.ts";
import {
  executeRequest,
  type HttpServe,
  httpServe,
  json,
  type RawSession,
  rawSession,
  resultText,
} from "../support/http-serve.ts";
import { maxBusyPingMs } from "../support/longest-turn.ts";
import { modernRequest } from "../support/modern-host.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary.ts";

setDefaultTimeout(120_000);

let folder: TemporaryFolder;
let serve: HttpServe;
let heavy: RawSession;
let heavyHeaders: Record<string, string>;
let other: RawSession;

beforeAll(async () => {
  folder = temporaryFolder();
  folder.write("claudikins.json", { mcpServers: {} });
  serve = await httpServe(folder, [], { token: "kept" });
  const env = { XDG_DATA_HOME: join(folder.path, "data") };
  const issue = async () => (await issueToken({ config: join(folder.path, "claudikins.json") }, env)).token;
  heavyHeaders = { authorization: `Bearer ${await issue()}` };
  heavy = await rawSession(serve.url, "2025-03-26", {}, "heavy", heavyHeaders);
  other = await rawSession(serve.url, "2025-11-25", {}, "other", { authorization: `Bearer ${await issue()}` });
});
afterAll(async () => {
  await serve[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

/** The longest of the pings of the other token, one every 10 ms, while the work is done. */
async function longestPing(work: () => Promise<unknown>): Promise<number> {
  let isOver = false;
  let longest = 0;
  const pinging = (async () => {
    for (let id = 0; !isOver; id++) {
      const begun = performance.now();
      await (await other.post({ jsonrpc: "2.0", id: `ping ${id}`, method: "ping" })).text();
      longest = Math.max(longest, performance.now() - begun);
      await Bun.sleep(10);
    }
  })();
  await Bun.sleep(100);
  await work();
  await Bun.sleep(50);
  isOver = true;
  await pinging;
  return longest;
}

/** On a busy machine, a ping may be late by chance. It is late because of the work if it is late each time. */
async function quickest(work: () => Promise<unknown>): Promise<number> {
  let quickest = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 4 && quickest > maxBusyPingMs; round++)
    quickest = Math.min(quickest, await longestPing(work));
  return quickest;
}

const call = (args: string) =>
  `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"execute_code","arguments":${args}}}`;
const keys = (count: number, value = "1") => Array.from({ length: count }, (_, n) => `"key${n}":${value}`).join(",");
const many = (count: number, value: string) => Array(count).fill(value).join(",");
const batch = (count: number) =>
  `[${Array.from({ length: count }, (_, id) => `{"jsonrpc":"2.0","id":"b${id}","method":"ping"}`).join(",")}]`;

const bodies: [string, () => string | Buffer, number][] = [
  ["200,000 keys", () => call(`{${keys(200_000)}}`), 413],
  ["200,000 times the same key", () => call(`{${many(200_000, '"key":1')}}`), 413],
  ["200,000 times __proto__", () => call(`{${many(200_000, '"__proto__":{}')}}`), 413],
  [
    "50,000 objects with keys of their own",
    () => call(`{"a":[${Array.from({ length: 50_000 }, (_, n) => `{"k${n}":1}`).join(",")}]}`),
    413,
  ],
  [
    "keys as unicode escapes",
    () => call(`{${Array.from({ length: 100_000 }, (_, n) => `"\\u00${(n % 90) + 10}${n}":1`).join(",")}}`),
    413,
  ],
  ["100,000 levels", () => call(`{"a":${"[".repeat(100_000)}${"]".repeat(100_000)}}`), 413],
  ["4 MB of [", () => "[".repeat(4_000_000), 413],
  ['4 MB of {"":', () => '{"":'.repeat(1_000_000), 413],
  ["a million empty lists", () => call(`{"a":[${many(1_000_000, "[]")}]}`), 413],
  ["two million numbers", () => call(`{"a":[${many(1_900_000, "1")}]}`), 413],
  ["a number of a million digits", () => call(`{"a":${"1".repeat(1_000_000)}}`), 413],
  ["a fraction of a million digits", () => call(`{"a":0.${"1".repeat(1_000_000)}}`), 413],
  ["100,000 levels below the most keys", () => call(`{${keys(19_900)},"a":${"[".repeat(100_000)}`), 413],
  ["a batch of 20,000 pings", () => batch(20_000), 413],
  ["a batch of 1,000 pings", () => batch(1_000), 400],
  [
    "100,000 extensions",
    () => `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"a":{${keys(100_000, "{}")}}}}}`,
    413,
  ],
  ["almost as many keys as are allowed", () => call(`{"code":"return 1","a":{${keys(19_000)}}}`), 200],
  ["almost as many values as are allowed", () => call(`{"code":"return 1","a":[${many(98_000, "1")}]}`), 200],
  ["almost as many empty lists as are allowed", () => call(`{"code":"return 1","a":[${many(49_000, "[]")}]}`), 200],
  [
    "almost as many levels as are allowed",
    () => call(`{"code":"return 1","a":${"[".repeat(190)}${"]".repeat(190)}}`),
    200,
  ],
  ["4 MB of unicode escapes in one text", () => call(`{"code":"return 1","a":"${"\\u0041".repeat(650_000)}"}`), 200],
  ["4 MB of quotes in one text", () => call(`{"code":"return 1","a":"${'\\"'.repeat(1_900_000)}"}`), 200],
  [
    "invalid UTF-8",
    () => Buffer.concat([Buffer.from('{"a":"'), Buffer.alloc(3_000_000, 0xff), Buffer.from('"}')]),
    400,
  ],
  ["a byte order mark", () => Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from(`{${keys(100_000)}}`)]), 413],
  ["a text without an end", () => call(`{"a":"${"{".repeat(3_900_000)}`).slice(0, -4), 400],
];

describe.each(bodies)("a body with %s", (_, make, status) => {
  test(`is answered with ${status}, and a ping meanwhile within 100 ms`, async () => {
    const body = make();
    let answer = "";
    const work = async () => {
      const response = await heavy.post(undefined, { body });
      answer = `${response.status} ${await response.text()}`;
    };
    expect(await quickest(work)).toBeLessThan(maxBusyPingMs);
    expect(answer).toStartWith(`${status} `);
    if (status === 413) {
      const { error } = JSON.parse(answer.slice(4));
      expect(error).toMatchObject({
        code: -32_600,
        message: expect.stringMatching(/more than \d+ (?:keys|values|levels deep|digits)\. Send less/),
      });
    }
  });
});

test("code of 400 KB and a text of 3 MB in a message are read", async () => {
  const code = `/* ${"x".repeat(400_000)} */ return 1`;
  expect(await resultText(await heavy.post(executeRequest(1, code)))).toBe("1");
  const answer = { jsonrpc: "2.0", id: "none", result: { content: { type: "image", data: "A".repeat(3_000_000) } } };
  expect((await heavy.post(answer)).status).toBe(202);
});

test("requests without sessions are refused in the same way", async () => {
  const params = {
    cursor: "x",
    extra: { more: Object.fromEntries(Array.from({ length: 100_000 }, (_, n) => [`key${n}`, {}])) },
  };
  const work = async () => {
    const response = await modernRequest(serve.url, "tools/list", params, { headers: heavyHeaders } as never);
    expect(response.status).toBe(413);
    await response.text();
  };
  expect(await quickest(work)).toBeLessThan(maxBusyPingMs);
});

test("many bodies at once that are just allowed do not keep others waiting", async () => {
  const body = call(`{"code":"return 1","a":{${keys(19_000)}}}`);
  const all = Array.from({ length: 8 }, (_, id) => body.replace('"id":7', `"id":"at once ${id}"`));
  const work = () => Promise.all(all.map(async (each) => (await heavy.post(undefined, { body: each })).text()));
  expect(await quickest(work)).toBeLessThan(maxBusyPingMs);
});

test("a body that trickles in, huge headers and a huge URL do not keep others waiting", async () => {
  const parts = Array.from({ length: 200 }, () => `"${"x".repeat(10_000)}",`);
  const trickle = new ReadableStream({
    async pull(controller) {
      const next = parts.pop();
      await Bun.sleep(2);
      if (next === undefined) controller.close();
      else controller.enqueue(new TextEncoder().encode(next));
    },
  });
  const work = async () => {
    const header = { ...json, ...heavyHeaders, "x-much": "a".repeat(100_000) };
    await Promise.allSettled([
      heavy.post(undefined, { body: trickle }),
      fetch(serve.url, { method: "POST", headers: header, body: "{}" }),
      fetch(`${serve.url}?${"a".repeat(1_000_000)}`, { headers: heavyHeaders }),
    ]);
  };
  expect(await quickest(work)).toBeLessThan(maxBusyPingMs);
});
