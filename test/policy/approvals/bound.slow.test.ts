/** What an open approval shows is exactly what is called: everything that could differ in between ends it. */
import { afterAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { continuesElsewhere, type MadeCall } from "../../../src/policy/approval-queue.ts";
import type { Approval } from "../../../src/store/approval.ts";
import { fixture } from "../../support/servers.ts";
import { Person } from "../recorded.ts";
import { no, session, Waiting, yes } from "./waiting.ts";

setDefaultTimeout(60_000);

const waiting = new Waiting();
afterAll(() => waiting[Symbol.asyncDispose]());

const tool = { name: "remove-it", description: "Removes a draft.", inputSchema: { type: "object" } };
const offer = (...tools: object[]) => waiting.project.write("tools.json", tools);
const args = { id: 1 };

beforeEach(async () => {
  await waiting.open({ confirm: "always" }, undefined, [tool]);
  await waiting.store("e1");
});

/** Changes the entry of the server, or the policy, in the config. */
function configure(keys: object, policy?: object): void {
  const record = `${waiting.project.path}/got.jsonl`;
  const rec = { ...fixture("recording", record, `${waiting.project.path}/tools.json`), category: "test", ...keys };
  waiting.project.write("claudikins.json", { mcpServers: { rec }, ...(policy ? { policy } : {}) });
}

/** Asks, and ends the process of the execution before anybody decides. The row stays open. */
async function left(made: Partial<MadeCall> = {}): Promise<Approval> {
  const controller = new AbortController();
  const running = waiting.call(args, made, controller.signal);
  const rows = await waiting.rows();
  controller.abort(continuesElsewhere);
  await running;
  return rows.at(-1)!;
}

const changes: [string, () => void, string | RegExp, object?][] = [
  ["the values of the arguments", () => {}, "the values of its arguments", { id: 2 }],
  ["an added argument", () => {}, "the values of its arguments", { id: 1, force: true }],
  ["the description", () => offer({ ...tool, description: "Removes it all." }), "its description"],
  ["the title", () => offer({ ...tool, title: "Remove" }), "its title"],
  [
    "the input schema",
    () => offer({ ...tool, inputSchema: { type: "object", properties: { id: {} } } }),
    "its arguments",
  ],
  ["the output schema", () => offer({ ...tool, outputSchema: { type: "object" } }), "its results"],
  ["the annotations", () => offer({ ...tool, annotations: { readOnlyHint: true } }), "its stated effects"],
  ["a second tool of the same name", () => offer(tool, { ...tool, title: "Other" }), "its description"],
  ["the list without the tool", () => offer(), "whether its server lists it"],
  ["the environment of the server", () => configure({ confirm: "always", env: { ACCOUNT: "other" } }), "its server"],
  ["the command of the server", () => configure({ confirm: "always", command: "/usr/bin/env" }), /./],
  ["a rule of the policy", () => configure({ confirm: "always" }, { confirm: { "*.*": "destructive" } }), "its server"],
];

describe("a call that is made again after its process has ended", () => {
  test("is made without a question if it was approved meanwhile and nothing has changed", async () => {
    const row = await left();
    await waiting.elsewhere.decide(row.id, yes);
    await waiting.reopen();
    const { asked, host } = new Person("no");
    waiting.app.pool.setHost({ responder: host });
    expect(await waiting.call(args)).toContain("did remove-it");
    expect(asked).toEqual([]);
    expect(await waiting.states()).toEqual(["approved"]);
  });

  test("waits with its row if nobody has decided yet", async () => {
    const row = await left();
    await waiting.reopen();
    const running = waiting.call(args);
    await waiting.elsewhere.decide(row.id, yes);
    expect(await running).toContain("did remove-it");
    expect(await waiting.states()).toEqual(["approved"]);
  });

  test("fails if it was denied, or has expired", async () => {
    const row = await left();
    await waiting.elsewhere.decide(row.id, no);
    await waiting.reopen();
    expect(await waiting.call(args)).toBe("rec.remove-it was not called: the person said no");
    waiting.app.config.approvals.expireHours = 0.000_01;
    await waiting.call(args, { execution: "e2" });
    await waiting.reopen();
    expect(await waiting.call(args, { execution: "e2" })).toContain("so the question has expired");
    expect(waiting.got()).toEqual([]);
  });

  test.each(changes)("is asked about again after a change of %s", async (_, change, words, now = args) => {
    const row = await left();
    await waiting.elsewhere.decide(row.id, yes);
    change();
    await waiting.reopen();
    const running = waiting.call(now);
    const asked = waiting.rows();
    asked.catch(() => {});
    const outcome = await Promise.race([running, asked]);
    // A server that no longer starts cannot be asked about, and is not called.
    if (typeof outcome === "string") expect(outcome).toMatch(/rec/);
    else {
      expect(JSON.parse(outcome[0]!.excerpt)).toEqual(now);
      expect(outcome[0]?.changed?.join(", ")).toMatch(words);
      expect(await waiting.states()).toEqual(["withdrawn", "open"]);
      await waiting.elsewhere.decide(outcome[0]!.id, no);
      expect(await running).toContain("the person said no");
    }
    expect(waiting.got()).toEqual([]);
  });

  test("is asked about again if something has changed while the row was open", async () => {
    const row = await left();
    offer({ ...tool, description: "Removes it all." });
    await waiting.reopen();
    const running = waiting.call(args);
    const isAsked = async () => {
      for (;;) {
        const [open] = await waiting.rows();
        if (open && open.id !== row.id) return open;
        await Bun.sleep(5);
      }
    };
    expect(await Promise.race([running, isAsked()])).toMatchObject({ changed: ["its description"] });
    // The old row can no longer be approved.
    expect(await waiting.elsewhere.decide(row.id, yes)).toEqual([]);
    await waiting.decide(no);
    expect(await running).toContain("the person said no");
    expect(waiting.got()).toEqual([]);
  });

  test("is not asked about if the tool was allowed for the session of this execution", async () => {
    const row = await left();
    await waiting.elsewhere.decide(row.id, session);
    await waiting.reopen();
    expect(await waiting.call(args)).toContain("did remove-it");
    await waiting.reopen();
    expect(await waiting.call({ id: 2 }, { call: 2 })).toContain("did remove-it");
    expect(waiting.got()).toHaveLength(2);
    // Another execution did not get the permission.
    await waiting.reopen();
    const running = waiting.call(args, { execution: "e2" });
    await waiting.decide(no);
    expect(await running).toContain("the person said no");
  });

  test("is asked about if a tool that was allowed for the session has changed, even if it changes back", async () => {
    const row = await left();
    await waiting.elsewhere.decide(row.id, session);
    await waiting.reopen();
    await waiting.call(args);
    waiting.got();
    offer({ ...tool, description: "Removes it all." });
    await waiting.reopen();
    const second = waiting.call(args, { call: 2 });
    expect(await waiting.decide(no)).toMatchObject({ changed: ["its description"] });
    expect(await second).toContain("the person said no");
    offer(tool);
    await waiting.reopen();
    const third = waiting.call(args, { call: 3 });
    await waiting.decide(no);
    expect(await third).toContain("the person said no");
    expect(waiting.got()).toEqual([]);
  });
});

describe("a call that waits", () => {
  test("is made with the arguments that the person saw, whatever becomes of the caller's object", async () => {
    const changed = { id: 1, to: { name: "ada" } };
    const running = waiting.call(changed);
    const [row] = await waiting.rows();
    changed.id = 2;
    changed.to.name = "eve";
    Object.assign(changed, { more: true });
    await waiting.elsewhere.decide(row!.id, yes);
    await running;
    expect(JSON.parse(row!.excerpt)).toEqual({ id: 1, to: { name: "ada" } });
    expect(waiting.got()).toMatchObject([{ args: { id: 1, to: { name: "ada" } } }]);
  });

  test("is made with the arguments of the call, although the program changes its object afterwards", async () => {
    const running = waiting.run(
      "const args = { id: 1 }; const call = rec.remove_it(args); args.id = 2; args.toJSON = () => ({ id: 3 }); return call;",
    );
    const row = await waiting.decide(yes);
    expect(await running).toMatchObject({ ok: true });
    expect([JSON.parse(row.excerpt), waiting.got()[0]?.args]).toEqual([{ id: 1 }, { id: 1 }]);
  });

  test("is asked about again if the tool changes before the approval", async () => {
    const running = waiting.call(args);
    const [first] = await waiting.rows();
    offer({ ...tool, description: "Removes it all." });
    await waiting.elsewhere.decide(first!.id, yes);
    const [second] = await waiting.rows();
    expect(second).toMatchObject({ changed: ["its description"] });
    expect(second!.id).not.toBe(first!.id);
    expect(waiting.got()).toEqual([]);
    await waiting.elsewhere.decide(second!.id, yes);
    expect(await running).toContain("did remove-it");
    expect(await waiting.states()).toEqual(["withdrawn", "approved"]);
    expect(waiting.audit().map(({ decision }) => decision)).toEqual(["approved", "withdrawn", "approved"]);
  });

  test("is not made if the tool changes after each approval", async () => {
    const running = waiting.call(args);
    for (let version = 1; version <= 3; version++) {
      const [row] = await waiting.rows();
      offer({ ...tool, description: `Version ${version}.` });
      await waiting.elsewhere.decide(row!.id, yes);
    }
    expect(await running).toContain("its definition kept changing while the person was asked");
    expect(waiting.got()).toEqual([]);
  });

  test("is not made if the policy denies it by the time it is made again", async () => {
    const row = await left();
    await waiting.elsewhere.decide(row.id, yes);
    configure({ deny: ["remove-it"] });
    await waiting.reopen();
    expect(await waiting.call(args)).toContain("is denied in the config");
    expect(waiting.got()).toEqual([]);
  });
});
