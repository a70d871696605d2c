/** What a person is told about a call that waits: differences from the last approved call, and messages to an address of the user's choice. */
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { parseExact } from "../../src/base/exact-json.ts";
import type { Log } from "../../src/base/log.ts";
import type { ApprovalNotice } from "../../src/config/approval-notice.ts";
import { Approvals } from "../../src/policy/approvals/approvals.ts";
import { approvalFacts } from "../../src/programs/approvals/approval-facts.ts";
import { ApprovalNews, messageFor } from "../../src/programs/approvals/approval-news.ts";
import { argumentChanges } from "../../src/programs/approvals/argument-changes.ts";
import type { Approval } from "../../src/store/approval.ts";
import { executionHolder } from "../../src/store/labels.ts";
import { openStore } from "../../src/store/open.ts";
import type { Store } from "../../src/store/store.ts";
import { type AskingChanges, asking } from "../store/approvals.ts";
import { eventually } from "../support/eventually.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary.ts";

setDefaultTimeout(60_000);

let folder: TemporaryFolder;
let store: Store;
let approvals: Approvals;
beforeEach(() => {
  folder = temporaryFolder();
  store = openStore({ HOME: folder.path });
  approvals = new Approvals({ store });
});
afterEach(async () => {
  await approvals[Symbol.asyncDispose]();
  await store[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

const ask = (changes: AskingChanges = {}) =>
  approvals.ask(asking({ askedAt: Date.now(), expiresAt: Date.now() + 3_600_000, ...changes }));
const approve = (row: Approval) => approvals.decide(row.id, { state: "approved", scope: "once", by: "page" });

describe("differences between arguments", () => {
  test("name the place, and what was and is there", () => {
    const before = { to: "a", list: [1, { deep: true }], gone: null, same: { x: 1 } };
    const now = { to: "b", list: [1, { deep: false }, 3], same: { x: 1 }, "odd key": {} };
    expect(argumentChanges(before, now)).toEqual({
      changes: [
        { at: "to", kind: "changed", before: '"a"', now: '"b"' },
        { at: "list[1].deep", kind: "changed", before: "true", now: "false" },
        { at: "list[2]", kind: "new", now: "3" },
        { at: "gone", kind: "gone", before: "null" },
        { at: '["odd key"]', kind: "new", now: "{}" },
      ],
      more: 0,
    });
  });

  test("know every digit, types, and keys that objects have by birth", () => {
    const [before, now] = ["12345678901234567890", "12345678901234567891"].map((id) => parseExact(`{"id":${id}}`));
    expect(argumentChanges(before, now).changes).toEqual([
      { at: "id", kind: "changed", before: "12345678901234567890", now: "12345678901234567891" },
    ]);
    expect(argumentChanges({ a: [] }, { a: {} }).changes).toHaveLength(1);
    expect(argumentChanges({}, JSON.parse('{"__proto__": 1, "toString": 2}')).changes.map(({ at }) => at)).toEqual([
      "__proto__",
      "toString",
    ]);
    const many = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`k${at}`, "x".repeat(600)]));
    const { changes, more } = argumentChanges({}, many);
    expect([changes.length, more, changes[0]!.now!.length]).toEqual([50, 10, 501]);
  });
});

describe("facts", () => {
  const facts = async (row: Approval) => approvalFacts(row, await approvals.argumentsOf(row.id), approvals, store);

  test("compare with the last approved call of the tool, of the same person behind the same door", async () => {
    const first = await ask({ args: { to: "a" } });
    await approve(first);
    const denied = await ask({ args: { to: "x" }, call: 2 });
    await approvals.decide(denied.id, { state: "denied", by: "page" });
    for (const other of [{ person: "p2", personName: "Bob" }, { door: "qa" }, { tool: "close" }, { config: "/b" }]) {
      await approve(await ask({ args: { to: "secret of others" }, execution: "e9", ...other }));
    }
    const row = await ask({ args: { to: "b" }, call: 3 });
    expect((await facts(row)).lastApproved).toEqual({
      id: first.id,
      decidedAt: expect.any(Number),
      isWhole: true,
      changes: [{ at: "to", kind: "changed", before: '"a"', now: '"b"' }],
      more: 0,
    });
    await approve(row);
    // A decided call is compared with the one before it.
    expect((await facts((await approvals.get(row.id))!)).lastApproved?.id).toBe(first.id);
  });

  test("do not compare what is not kept", async () => {
    await approve(await ask({ args: { text: "x".repeat(5_000) } }));
    const row = await ask({ args: { text: "y" }, call: 2 });
    expect((await facts(row)).lastApproved).toMatchObject({ isWhole: false, changes: [] });
    expect((await facts(await ask({ tool: "never-approved" }))).lastApproved).toBeUndefined();
  });

  test("have the labels of the execution, and of the program that called it, each once", async () => {
    const labels = [{ label: "private", source: "mail.read" }];
    const holders = ["e1", "e1-2"].map(executionHolder);
    await store.labels.change({ add: { holders, labels, at: 1 } });
    const row = await ask({ execution: "e1-2" });
    expect((await facts(row)).reads).toEqual([{ label: "private", source: "mail.read", calls: [] }]);
    expect((await facts(await ask({ execution: "e3" }))).reads).toEqual([]);
  });
});

describe("a message", () => {
  const row = {
    ...asking({ args: { amount: 12 }, server: "shop\n", tool: "<!channel> refund", door: "qa", personName: "Ann" }),
    id: "7k2m9q4x",
    excerpt: '{\n  "amount": 12\n}',
    why: "private data leaves",
  };
  const link = "https://tools.example.com/ui/?approval=7k2m9q4x";

  test("has names and ids alone, unless contents are asked for", () => {
    for (const as of ["webhook", "ntfy", "slack"] as const) {
      const { body } = messageFor(row, { as, contents: false }, link);
      expect([body.includes("12"), body.includes("private data"), body.includes("Ann")]).toEqual([false, false, false]);
      expect(body).toContain(link);
      const whole = messageFor(row, { as, contents: true }, undefined).body;
      expect([whole.includes("12"), whole.includes("private data"), whole.includes("Ann")]).toEqual([true, true, true]);
    }
  });

  test("is for its receiver, and names of servers make neither links nor lines of their own", () => {
    const slack = JSON.parse(messageFor(row, { as: "slack", contents: false }, link).body);
    expect(slack).toEqual({
      text: `shop .&lt;!channel&gt; refund waits for your approval behind the door qa.\n${link}`,
    });
    const ntfy = messageFor(row, { as: "ntfy", contents: false }, link);
    expect(ntfy.body.split("\n")).toEqual([
      "shop .<!channel> refund waits for your approval behind the door qa.",
      link,
    ]);
    expect(ntfy.headers).toMatchObject({ title: "A call waits for your approval", click: link });
    const { type, data } = JSON.parse(messageFor(row, { as: "webhook", contents: false }, undefined).body);
    expect([type, data.approval, data.tool, data.link]).toEqual(["approval.waiting", "7k2m9q4x", row.tool, undefined]);
  });
});

describe("an address", () => {
  const got: { body: string; headers: Headers }[] = [];
  let status = 200;
  let server: Bun.Server<undefined>;
  const warned: string[] = [];
  const log = { warn: (line: string) => warned.push(line) } as unknown as Log;
  beforeEach(() => {
    got.length = 0;
    warned.length = 0;
    status = 200;
    server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      async fetch(request) {
        got.push({ body: await request.text(), headers: request.headers });
        return new Response(null, { status, headers: status === 302 ? { location: "/elsewhere" } : {} });
      },
    });
  });
  afterEach(() => server.stop(true));

  function news(changes: Partial<ApprovalNotice> = {}) {
    const url = "${HOOK}";
    const notice: ApprovalNotice = { url, as: "webhook", contents: false, afterSeconds: 0, ...changes };
    const env = { HOME: folder.path, HOOK: `http://127.0.0.1:${server.port}/token-in-path` };
    const made = new ApprovalNews({ env, log, settings: () => ({ notice, link: undefined }) });
    approvals.onRow((row) => made.changed(row));
    return made;
  }

  test("is told once of each call that still waits, signed if there is a secret", async () => {
    using _news = news({ secret: `whsec_${btoa("secret of the hook")}` });
    const row = await ask();
    await eventually(() => got.length === 1);
    expect(JSON.parse(got[0]!.body).data).toMatchObject({ approval: row.id, server: "github", tool: "merge" });
    expect(got[0]!.headers.get("webhook-id")).toBe(`approval_${row.id}`);
    expect(got[0]!.headers.get("webhook-signature")).toStartWith("v1,");
    await approve(row);
    await Bun.sleep(50);
    expect(got).toHaveLength(1);
  });

  test("gets no message about a call that was decided soon", async () => {
    using made = news({ afterSeconds: 0.2 });
    const row = await ask();
    made.changed({ ...row, state: "approved" });
    await Bun.sleep(400);
    expect(got).toEqual([]);
  });

  test("is in a warning if it fails or leads elsewhere, without its secret part", async () => {
    using _news = news();
    status = 302;
    await ask();
    await eventually(() => warned.length === 1);
    expect(got).toHaveLength(1);
    expect(warned[0]).toMatch(
      /^nobody was told that \w{8} waits for approval: http:\/\/127\.0\.0\.1:\d+ answered 302$/,
    );
    expect(warned[0]).not.toContain("token-in-path");
  });
});
