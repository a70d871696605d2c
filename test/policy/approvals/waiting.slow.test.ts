/** Calls that wait for a decision: made in the agent, at the terminal, or by another process. */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { rmSync } from "node:fs";
import type { Io } from "../../../src/cli/io.ts";
import { personAtTerminal } from "../../../src/cli/terminal/at-terminal.ts";
import type { Activity } from "../../../src/cli/terminal/progress.ts";
import { storeFile } from "../../../src/config/locations.ts";
import { continuesElsewhere } from "../../../src/policy/approval-queue.ts";
import type { Decision } from "../../../src/store/approval.ts";
import { asking } from "../../store/approvals.ts";
import { blockAudit } from "../../support/audit.ts";
import { eventually } from "../../support/eventually.ts";
import { inStore } from "../../support/stored.ts";
import { Person } from "../recorded.ts";
import { no, session, Waiting, yes } from "./waiting.ts";

setDefaultTimeout(60_000);

const waiting = new Waiting();
afterAll(() => waiting[Symbol.asyncDispose]());

const always = { confirm: "always" };
const did = "did remove-it";
const person = async (...answers: (string | object)[]) => {
  const asked = new Person(...answers);
  waiting.app.pool.setHost({ responder: asked.host });
  return asked;
};

describe("a call that nobody can be asked about", () => {
  test("waits until another process approves it", async () => {
    await waiting.open(always);
    const running = waiting.run("const id = 7;\nreturn rec.remove_it({ id, text: 'a' });");
    const [row] = await waiting.rows();
    expect(row).toMatchObject({
      config: `${waiting.project.path}/claudikins.json`,
      call: 1,
      line: 2,
      code: "return rec.remove_it({ id, text: 'a' });",
      server: "rec",
      tool: "remove-it",
      excerpt: JSON.stringify({ id: 7, text: "a" }, null, 2),
      why: 'mcpServers.rec.confirm says "always"',
      told: "the user confirms every call of this tool",
      changed: null,
      state: "open",
    });
    expect(row!.expiresAt - row!.askedAt).toBe(24 * 3_600_000);
    expect(waiting.got()).toEqual([]);
    await waiting.elsewhere.decide(row!.id, yes);
    expect(await running).toMatchObject({ ok: true, value: did });
    expect(waiting.got()).toMatchObject([{ args: { id: 7, text: "a" } }]);
  });

  test("fails when it is denied, and the tool is not asked about again by this code", async () => {
    await waiting.open(always);
    const source = `const said = await Promise.allSettled([rec.remove_it({ id: 1 }), rec.remove_it({ id: 2 })]);
      said.push(...await Promise.allSettled([rec.remove_it({ id: 3 })]));
      return said.map(({ reason }) => reason.message);`;
    const running = waiting.run(source);
    await waiting.rows(2);
    const decided = await waiting.elsewhere.decide((await waiting.rows())[1]!.id, no);
    expect(decided.map(({ excerpt }) => JSON.parse(excerpt))).toEqual([{ id: 2 }, { id: 1 }]);
    expect(await running).toMatchObject({
      value: [
        "rec.remove-it was not called: the person said no",
        "rec.remove-it was not called: the person said no",
        "rec.remove-it was not called: the person said no to this tool for the rest of this execution",
      ],
    });
    expect(await waiting.states()).toEqual(["denied", "denied"]);
    expect(waiting.got()).toEqual([]);
  });

  test("fails with the reason that a person gave, and so do further calls of the tool", async () => {
    await waiting.open(always);
    const running = waiting.run(`const said = await Promise.allSettled([rec.remove_it({ id: 1 })]);
      said.push(...await Promise.allSettled([rec.remove_it({ id: 2 })]));
      return said.map(({ reason }) => reason.message);`);
    const [row] = await waiting.rows();
    const reason = 'ask "QA" first';
    await waiting.elsewhere.decide(row!.id, { ...no, reason } as typeof no);
    const said = ', with the reason "ask \\"QA\\" first"';
    expect(await running).toMatchObject({
      value: [
        `rec.remove-it was not called: the person said no${said}`,
        `rec.remove-it was not called: the person said no to this tool for the rest of this execution${said}`,
      ],
    });
    expect(await waiting.elsewhere.get(row!.id)).toMatchObject({ state: "denied", reason });
    // The log cannot be changed later, so it has no text of a person.
    expect(JSON.stringify(waiting.audit())).not.toContain("QA");
  });

  test("may be called again by the program for which it was approved, and by no other program of the session", async () => {
    await waiting.open(always);
    const program: Decision = { ...yes, scope: "program" } as Decision;
    const first = waiting.run("await rec.remove_it({ id: 1 });\nreturn rec.remove_it({ id: 2 });");
    await waiting.decide(program);
    expect(await first).toMatchObject({ ok: true, value: did });
    const second = waiting.run("return rec.remove_it({ id: 3 })");
    const [row] = await waiting.rows();
    await waiting.elsewhere.decide(row!.id, no);
    expect(await second).toMatchObject({ ok: false, error: { code: "POLICY_DENIED" } });
    expect(waiting.got().map(({ args }) => args)).toEqual([{ id: 1 }, { id: 2 }]);
    expect(waiting.audit()).toMatchObject([{ decision: "approved", scope: "program" }, { decision: "denied" }]);
  });

  test("fails when its time is over", async () => {
    await waiting.open(always);
    waiting.app.config.approvals.expireHours = 0.000_1;
    expect(await waiting.run("return rec.remove_it({})")).toMatchObject({
      error: {
        code: "POLICY_DENIED",
        message: "rec.remove-it was not called: nobody decided about it within 400 ms, so the question has expired",
      },
    });
    expect(await waiting.states()).toEqual(["expired"]);
    expect(waiting.audit()).toMatchObject([{ decision: "expired", tool: "remove-it" }]);
    expect(waiting.audit()[0]?.by).not.toHaveProperty("place");
  });

  test("is withdrawn when its execution is cancelled", async () => {
    await waiting.open(always);
    const controller = new AbortController();
    const running = waiting.run("return rec.remove_it({})", controller.signal);
    await waiting.rows();
    controller.abort();
    await running;
    await eventually(async () => (await waiting.states())[0] !== "open");
    expect(await waiting.states()).toEqual(["withdrawn"]);
  });

  test("is withdrawn when its process has died and nobody can continue its execution", async () => {
    await waiting.open(always);
    await waiting.store("e2");
    const controller = new AbortController();
    const running = [waiting.call({}, {}, controller.signal), waiting.call({}, { execution: "e2" }, controller.signal)];
    await waiting.rows(2);
    controller.abort(continuesElsewhere);
    await Promise.all(running);
    expect(await waiting.states()).toEqual(["open", "open"]);
    await waiting.close();
    expect((await waiting.elsewhere.list()).map(({ execution, state }) => [execution, state]).sort()).toEqual([
      ["e1", "withdrawn"],
      ["e2", "open"],
    ]);
  });

  test("stays open when its execution continues in another process", async () => {
    await waiting.open(always);
    const controller = new AbortController();
    const running = waiting.call({ id: 1 }, {}, controller.signal);
    await waiting.rows();
    controller.abort(continuesElsewhere);
    expect(await running).toBe("rec.remove-it was cancelled");
    expect(await waiting.states()).toEqual(["open"]);
  });

  test("is made in the next process if it was approved, whatever was said about others after that", async () => {
    await waiting.open(always);
    const call = (id: number, { signal }: AbortController) => waiting.call({ id }, { call: id }, signal);
    const first = new AbortController();
    const calls = [call(1, first), call(2, first)];
    const rows = await waiting.rows(2);
    first.abort(continuesElsewhere);
    await Promise.all(calls);
    const rowOf = (call: number) => rows.find((row) => row.call === call)?.id ?? "";
    await waiting.elsewhere.decide(rowOf(2), yes);
    await waiting.elsewhere.decide(rowOf(1), no);
    const next = new AbortController();
    expect(await call(1, next)).toContain("the person said no");
    await call(2, next);
    expect(await call(3, next)).toContain("no to this tool for the rest of this execution");
    expect(waiting.got()).toHaveLength(1);
    expect(await waiting.states()).toEqual(["denied", "approved"]);
  });

  test("pauses the clock of its execution", async () => {
    await waiting.open(always);
    let holds = 0;
    const clock = { hold: () => void holds++, release: () => void holds-- };
    const made = { execution: "e1", call: 1, line: 1 };
    const running = waiting.app.pool.callTool("rec", "remove-it", {}, { made, clock });
    await waiting.rows();
    expect(holds).toBe(1);
    await waiting.decide(yes);
    await running;
    expect(holds).toBe(0);
  });

  test("fails at once if the config says so, if the front door cannot wait, and outside a program", async () => {
    const message = "rec.remove-it needs a person's confirmation, and nobody can be asked here";
    await waiting.open(always);
    expect(await waiting.app.pool.callTool("rec", "remove-it", {}).catch((error) => error.message)).toBe(message);
    waiting.app.config.approvals.wait = false;
    expect(await waiting.call({})).toBe(message);
    waiting.waits = false;
    await waiting.reopen();
    waiting.waits = true;
    expect(await waiting.call({})).toBe(message);
    expect(await waiting.states()).toEqual([]);
  });

  test("is not made if the decision cannot be recorded", async () => {
    await waiting.open(always);
    await waiting.elsewhere.open();
    await inStore(waiting.env, (store) => store.checkWritable());
    blockAudit(storeFile(waiting.env));
    await person("once");
    expect(await waiting.call({})).toBe("Cannot write to the audit log: blocked");
    expect(waiting.got()).toEqual([]);
  });

  test("fails if it cannot be stored", async () => {
    await waiting.open(always);
    waiting.project.write(".local/share/claudikins/executions.sqlite/in-the-way", "");
    expect(await waiting.call({})).toStartWith("Cannot open the database");
    rmSync(storeFile(waiting.env), { recursive: true });
  });
});

describe("a call with a host that asks", () => {
  test("is decided by the host's answer", async () => {
    await waiting.open(always);
    const { asked } = await person("once", "no");
    expect(await waiting.call({ id: 1 })).toContain(did);
    expect(await waiting.call({ id: 2 }, { call: 2 })).toBe("rec.remove-it was not called: the person said no");
    expect(asked).toHaveLength(2);
    expect(await waiting.elsewhere.list()).toMatchObject([
      { state: "approved", scope: "once", decidedBy: "agent" },
      { state: "denied", decidedBy: "agent" },
    ]);
  });

  test("is asked about alone: a call that cannot wait is asked about afterwards", async () => {
    await waiting.open(always);
    const user = new Person("once");
    const [shown, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const elicit: typeof user.host.elicit = async (...question) => {
      const answer = user.host.elicit!(...question);
      shown.resolve();
      await answered.promise;
      return answer;
    };
    waiting.app.pool.setHost({ responder: { ...user.host, elicit } });
    const calls: Promise<unknown>[] = [waiting.call({ id: 1 })];
    await shown.promise;
    calls.push(waiting.app.pool.callTool("rec", "remove-it", { id: 2 }));
    // The definition of the second call is read before these.
    for (let times = 0; times < 3; times++) await waiting.app.pool.listTools("rec");
    expect(user.asked).toHaveLength(1);
    answered.resolve();
    await Promise.all(calls);
    expect(user.asked).toHaveLength(2);
    expect(waiting.got()).toMatchObject([{ args: { id: 1 } }, { args: { id: 2 } }]);
    expect(waiting.audit().map(({ decision }) => decision)).toEqual(["approved", "approved"]);
  });

  test("is the last of fifty that the host is asked about", async () => {
    await waiting.open(always);
    const { asked } = await person("once");
    await waiting.run("for (let id = 0; id < 51; id++) await rec.remove_it({ id });");
    expect(asked).toHaveLength(50);
    expect(waiting.got()).toHaveLength(50);
  });

  test("is decided elsewhere while the host still asks, and the question there ends", async () => {
    await waiting.open(always);
    let ended = false;
    waiting.app.pool.setHost({
      responder: {
        capabilities: { elicitation: { form: {} } },
        elicit: async (_, { signal }) => {
          await new Promise((done) => signal.addEventListener("abort", done, { once: true }));
          ended = true;
          throw signal.reason;
        },
      },
    });
    const running = waiting.call({ id: 1 });
    await waiting.decide(yes);
    expect(await running).toContain(did);
    expect(ended).toBe(true);
  });

  test("waits for a decision elsewhere if the host cancels its question, and asks no more there", async () => {
    await waiting.open(always);
    const { asked } = await person({ action: "cancel" });
    const running = waiting.run("return [await rec.remove_it({ id: 1 }), await rec.remove_it({ id: 2 })]");
    await waiting.decide(yes);
    await waiting.decide(yes);
    expect(await running).toMatchObject({ value: [did, did] });
    expect(asked).toHaveLength(1);
  });

  test("waits for a decision elsewhere if the host fails to ask", async () => {
    await waiting.open(always);
    waiting.app.pool.setHost({
      responder: {
        capabilities: { elicitation: { form: {} } },
        elicit: () => Promise.reject(new Error("no form today")),
      },
    });
    const running = waiting.call({ id: 1 });
    await waiting.decide(yes);
    expect(await running).toContain(did);
  });

  test("is denied with everything that this code asks, if the person declines", async () => {
    await waiting.open(always);
    const { asked } = await person({ action: "decline" });
    const source =
      "return (await Promise.allSettled([rec.remove_it({}), rec.plain_it({}), rec.plain_it({})])).map(({ reason }) => reason.message)";
    const { value } = (await waiting.run(source)) as { value: string[] };
    const words = value.map(
      (text) => /the person said no|the person declined all questions from this code/.exec(text)?.[0],
    );
    expect(words.toSorted()).toEqual([
      "the person declined all questions from this code",
      "the person declined all questions from this code",
      "the person said no",
    ]);
    expect(asked).toHaveLength(1);
    expect(waiting.got()).toEqual([]);
  });
});

describe("many calls", () => {
  test("wait in limited number, and a permission for the session settles them all", async () => {
    await waiting.open(always);
    const running = waiting.run(
      "return (await Promise.all(Array.from({ length: 100 }, (_, id) => rec.remove_it({ id })))).length",
    );
    expect(await waiting.rows(20)).toHaveLength(20);
    await waiting.decide(session);
    expect(await running).toMatchObject({ ok: true, value: 100 });
    const states = await waiting.states();
    expect(new Set(states)).toEqual(new Set(["approved"]));
    expect(states.length).toBeLessThanOrEqual(20);
    expect(waiting.got()).toHaveLength(100);
  });

  test("are settled by a permission for the session, also those that waited when an earlier one was decided", async () => {
    await waiting.open(always);
    const running = waiting.run(
      "const [first, second] = [1, 2].map((id) => rec.remove_it({ id }));\nawait first;\nreturn Promise.all([second, rec.remove_it({ id: 3 })]);",
    );
    const about = async (id: number) => {
      for (;;) {
        const row = (await waiting.rows()).find(({ excerpt }) => JSON.parse(excerpt).id === id);
        if (row) return row.id;
        await Bun.sleep(10);
      }
    };
    await waiting.elsewhere.decide(await about(1), yes);
    await waiting.elsewhere.decide(await about(3), session);
    expect(await running).toMatchObject({ ok: true, value: [did, did] });
    expect(await waiting.states()).toEqual(["approved", "approved", "approved"]);
  });

  test("are asked about fifty times at most by one execution", async () => {
    await waiting.open(always);
    const running = waiting.run(
      "return (await Promise.allSettled(Array.from({ length: 60 }, (_, id) => rec.remove_it({ id })))).filter(({ status }) => status === 'fulfilled').length",
    );
    for (let left = 50; left > 0; left--) await waiting.decide(yes);
    expect(await running).toMatchObject({ ok: true, value: 50 });
    expect(waiting.got()).toHaveLength(50);
  });
});

test("no more than five hundred calls of a config wait, of all executions together, and other configs do not count", async () => {
  await waiting.open(always);
  await waiting.store("other");
  const config = `${waiting.project.path}/claudikins.json`;
  const row = { execution: "other", expiresAt: Date.now() + 1e6 };
  const rows = Array.from({ length: 500 }, (_, call) => asking({ ...row, call, config: "/other/claudikins.json" }));
  await waiting.fill(...rows);
  const running = waiting.call({});
  await waiting.elsewhere.decide((await waiting.rows(501)).at(-1)!.id, yes);
  expect(await running).toContain(did);
  await waiting.fill(...rows.map((each) => ({ ...each, config })));
  expect(await waiting.call({}, { call: 2 })).toBe("rec.remove-it was not called: 500 calls already wait for approval");
});

test("a question at the terminal ends when somebody decides elsewhere, and says so", async () => {
  let written = "";
  const write = async (text: string) => {
    written += text;
  };
  const shown = Promise.withResolvers<void>();
  const output = { isTerminal: true, write };
  const stdin: Io["stdin"] = {
    isTerminal: true,
    text: async () => "",
    dropTyped: async () => {},
    async line({ signal, onReady }) {
      await onReady?.();
      shown.resolve();
      await new Promise((done) => signal.addEventListener("abort", done, { once: true }));
      return undefined;
    },
  };
  const interrupted = new AbortController().signal;
  const io: Io = { stdin, stdout: output, stderr: output, env: {}, cwd: "/", interrupted };
  waiting.atTerminal = personAtTerminal(() => ({ pause: () => () => {} }) as unknown as Activity, io);
  await waiting.open(always);
  waiting.atTerminal = undefined;
  const running = waiting.call({ id: 1 });
  await shown.promise;
  await waiting.decide(yes);
  expect(await running).toContain(did);
  expect(written).toMatch(/^Allow the call to rec\.remove-it\?[\s\S]*\nDecided elsewhere\.\n$/);
});

test("the arguments of a question have no secrets of the config, and the call has them", async () => {
  const secret = "s3cr3t-value-of-a-token";
  await waiting.open({ ...always, env: { API_TOKEN: secret } });
  const running = waiting.call({ note: `the token is ${secret}` });
  const [row] = await waiting.rows();
  expect(JSON.stringify(row)).not.toContain(secret);
  await waiting.decide(yes);
  expect(await running).toContain(did);
  expect(waiting.got()).toMatchObject([{ args: { note: `the token is ${secret}` } }]);
});

test("listeners hear of rows that open and close, and of changes by other processes", async () => {
  await waiting.open(always);
  const heard: string[] = [];
  let changes = 0;
  waiting.app.approvals.onRow(({ state, execution, call }) => heard.push(`${execution} ${call} ${state}`));
  const changed = Promise.withResolvers<void>();
  waiting.elsewhere.onChange(() => {
    changes += 1;
    changed.resolve();
  });
  const running = waiting.call({ id: 1 });
  await waiting.rows();
  await changed.promise;
  await waiting.decide(yes);
  await running;
  expect(heard).toEqual(["e1 1 open", "e1 1 approved"]);
  expect(changes).toBeGreaterThan(1);
});

describe("the audit log", () => {
  test("has every decision, with digests in the place of arguments", async () => {
    await waiting.open(always);
    const running = waiting.call({ id: "a name" });
    const row = await waiting.decide(session);
    await running;
    expect(waiting.audit()).toEqual([
      {
        entry: 1,
        previous: "0".repeat(64),
        at: expect.any(Number),
        decision: "approved",
        approval: row.id,
        config: `${waiting.project.path}/claudikins.json`,
        execution: "e1",
        call: 1,
        line: 3,
        server: "rec",
        tool: "remove-it",
        arguments: { sha256: expect.stringMatching(/^[0-9a-f]{64}$/), bytes: 15 },
        scope: "session",
        by: expect.objectContaining({ place: "command", pid: process.pid }),
      },
    ]);
  });

  test("has decisions about calls that could not wait", async () => {
    await waiting.open(always);
    await person("once", "no", { action: "cancel" });
    for (let call = 0; call < 3; call++) await waiting.app.pool.callTool("rec", "remove-it", {}).catch(() => {});
    expect(waiting.audit()).toMatchObject([
      { decision: "approved", tool: "remove-it", scope: "once", by: { place: "agent" } },
      { decision: "denied", tool: "remove-it" },
    ]);
  });
});
