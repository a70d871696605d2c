/** Questions about calls: one at a time, a limited number, and cancelled with the execution. */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { SessionReads } from "../../src/policy/flow/session-reads.ts";
import { execute } from "../../src/programs/execute.ts";
import { Person, Recorded } from "./recorded.ts";

setDefaultTimeout(60_000);

const recorded = new Recorded();
afterAll(() => recorded[Symbol.asyncDispose]());

async function asking(keys: object, ...answers: (string | object)[]): Promise<Person> {
  const person = new Person(...answers);
  (await recorded.open(keys)).pool.setHost({ responder: person.host });
  return person;
}

const hundred =
  "return (await Promise.allSettled(Array.from({ length: 100 }, (_, id) => rec.remove_it({ id })))).filter((each) => each.status === 'fulfilled').length";

const settled = (count: number) =>
  `return (await Promise.allSettled(Array.from({ length: ${count} }, (_, id) => rec.remove_it({ id })))).map(({ status, reason }) => reason?.message ?? status)`;

test("concurrent calls are asked about one after another, in order, each with its own arguments", async () => {
  const person = await asking({ confirm: "always" }, "once", "once", "no");
  const { value } = (await recorded.run(settled(3))) as { value: unknown };
  expect(value).toEqual(["fulfilled", "fulfilled", "rec.remove-it was not called: the person said no"]);
  expect(person.mostAtOnce).toBe(1);
  expect(person.asked.map((question) => /"id": (\d)/.exec(question)?.[1])).toEqual(["0", "1", "2"]);
  expect(recorded.got().map(({ args }) => args)).toEqual([{ id: 0 }, { id: 1 }]);
});

test("the account of the server is part of the question", async () => {
  const person = await asking({ confirm: "always", account: "ada@client.example" }, "once");
  await recorded.run("return rec.remove_it({ id: 1 })");
  expect(person.asked[0]).toContain('; rec is for the account "ada@client.example".');
});

describe("the number of questions", () => {
  const stands = "rec.remove-it was not called: the person said no to this tool for the rest of this execution";

  test("is one for concurrent calls of a tool that the person refused", async () => {
    const person = await asking({ confirm: "always" }, "no");
    const { value } = (await recorded.run(settled(60))) as { value: string[] };
    expect(person.asked).toHaveLength(1);
    expect(new Set(value)).toEqual(new Set(["rec.remove-it was not called: the person said no", stands]));
    expect(recorded.got()).toEqual([]);
  });

  test("does not grow with later calls of a refused tool, but with other tools", async () => {
    const person = await asking({ confirm: "always" }, "no", "once");
    const source = `const said = []; for (let id = 0; id < 60; id++) await rec.remove_it({ id }).catch(({ code, message }) => said.push([code, message]));
      return [said.length, said[59], await rec.plain_it({})]`;
    expect(await recorded.run(source)).toMatchObject({ value: [60, ["POLICY_DENIED", stands], "did plain-it"] });
    expect(person.asked).toHaveLength(2);
  });

  test("is limited for calls of different tools", async () => {
    const person = new Person("no");
    const tools = Array.from({ length: 60 }, (_, place) => ({ name: `tool${place}` }));
    (await recorded.open({ confirm: "always" }, undefined, tools)).pool.setHost({ responder: person.host });
    const source = `return (await Promise.allSettled(Object.values(rec).map((tool) => tool({})))).length`;
    expect(await recorded.run(source)).toMatchObject({ ok: true, value: 60 });
    expect(person.asked).toHaveLength(5);
    expect(recorded.got()).toEqual([]);
  });

  test("is limited for calls without a program and for repeated programs", async () => {
    const person = await asking({ confirm: "always" }, "no");
    const call = (id: number) =>
      recorded.app.pool.callTool("rec", "remove-it", { id }, { signal: new AbortController().signal });
    const many = await Promise.allSettled(Array.from({ length: 60 }, (_, id) => call(id)));
    expect(many.every(({ status }) => status === "rejected")).toBe(true);
    for (let id = 0; id < 10; id++) {
      await recorded.run(`return rec.remove_it({ id: ${id} })`);
      await call(id).catch(() => {});
    }
    expect(person.asked).toHaveLength(3);
    expect(await recorded.run("return rec.remove_it({})")).toMatchObject({
      error: {
        message: "rec.remove-it was not called: the person said no to it 3 times and is not asked again for a minute",
      },
    });
    expect(recorded.got()).toEqual([]);
  });

  test("is limited for one execution even with consent to each call", async () => {
    const person = await asking({ confirm: "always" }, "once");
    await recorded.run(settled(80));
    expect(person.asked).toHaveLength(50);
    expect(recorded.got()).toHaveLength(50);
  });
});

test("consent for the session is not consent for another one that uses the same connections", async () => {
  const person = await asking({ confirm: "always" }, "session", "once");
  const { app } = recorded;
  const run = (within: SessionReads) =>
    execute({ source: "await rec.remove_it({ id: 1 }); return rec.remove_it({ id: 2 })", within }, app);
  const [one, other] = [app.sessions.ofConnection(), app.sessions.ofConnection()];
  expect(await run(one)).toMatchObject({ ok: true });
  expect(await run(one)).toMatchObject({ ok: true });
  expect(person.asked).toHaveLength(1);
  expect(await run(other)).toMatchObject({ ok: true });
  expect(person.asked).toHaveLength(3);
});

test("consent for the session applies to the rest of a hundred calls, and to later code", async () => {
  const person = await asking({ confirm: "destructive" }, "once", "session");
  expect(await recorded.run(hundred)).toMatchObject({ ok: true, value: 100 });
  expect(person.asked).toHaveLength(2);
  expect(await recorded.run(hundred)).toMatchObject({ ok: true, value: 100 });
  expect(person.asked).toHaveLength(2);
  expect(recorded.got()).toHaveLength(200);
  // The answer applied to that tool.
  await recorded.run("return rec.plain_it()");
  expect(person.asked).toHaveLength(3);
});

test.each([["decline"], ["cancel"]])(
  "the answer %s to one of a hundred calls ends the questions of this code",
  async (action) => {
    const person = await asking({ confirm: "always" }, "once", { action }, "once");
    expect(await recorded.run(hundred)).toMatchObject({ ok: true, value: 1 });
    expect(person.asked).toHaveLength(2);
    const again = "return await rec.remove_it({}).catch(({ code, message }) => [code, message])";
    expect(await recorded.run(`await rec.remove_it({ id: 0 }); ${again}`)).toMatchObject({
      ok: true,
      value: "did remove-it",
    });
    expect(recorded.got()).toHaveLength(3);
  },
);

test("cancelled questions are never reported as a refusal by a person", async () => {
  const person = await asking({ confirm: "always" }, { action: "cancel" });
  const said = new Set<string>();
  const failed = `(await Promise.allSettled([rec.remove_it({}), rec.remove_it({}), rec.plain_it({})])).map(({ reason }) => reason.message)`;
  for (let run = 0; run < 4; run++) {
    const { value } = (await recorded.run(`return ${failed}`)) as { value: string[] };
    for (const message of value) said.add(message);
  }
  expect([...said]).toEqual([
    "rec.remove-it was not called: the question was cancelled without an answer",
    "rec.remove-it needs confirmation, and this code may not ask again: a question was cancelled without an answer",
    "rec.plain-it needs confirmation, and this code may not ask again: a question was cancelled without an answer",
    "rec.remove-it was not called: 3 requests to confirm it were not approved, and nobody is asked again for a minute",
    "rec.plain-it was not called: the question was cancelled without an answer",
  ]);
  expect(person.asked).toHaveLength(4);
});

test("a cancelled execution asks no more questions", async () => {
  const controller = new AbortController();
  const person = await asking({ confirm: "always" }, "once");
  const host = person.host;
  const stopped: boolean[] = [];
  recorded.app.pool.setHost({
    responder: {
      capabilities: host.capabilities,
      elicit: async (params, { server, signal }) => {
        if (person.asked.length < 2) return host.elicit!(params, { server, signal });
        person.asked.push(params.message);
        controller.abort();
        if (!signal.aborted) await new Promise((done) => signal.addEventListener("abort", done, { once: true }));
        stopped.push(signal.aborted);
        throw signal.reason;
      },
    },
  });
  expect(await recorded.run(hundred, controller.signal)).toMatchObject({ ok: false, reason: "cancelled" });
  expect(person.asked).toHaveLength(3);
  expect(stopped).toEqual([true]);
  expect(recorded.got().length).toBeLessThanOrEqual(2);
  // The next code asks again.
  recorded.app.pool.setHost({ responder: host });
  expect(await recorded.run("return rec.remove_it({ id: 5 })")).toMatchObject({ ok: true });
  expect(person.asked).toHaveLength(4);
});

test("time limits pause during a question, and for calls that wait for theirs", async () => {
  const person = await asking({ confirm: "always" }, "once");
  const { host } = person;
  recorded.app.pool.setHost({
    responder: {
      capabilities: host.capabilities,
      elicit: async (params, asked) => {
        await Bun.sleep(1_100);
        return host.elicit!(params, asked);
      },
    },
  });
  const { execute } = await import("../../src/programs/execute.ts");
  const source = "return (await Promise.all([1, 2, 3].map((id) => rec.remove_it({ id })))).length";
  const outcome = await execute({ source, limits: { timeoutMs: 3_000 } }, recorded.app);
  expect(outcome).toMatchObject({ ok: true, value: 3 });
  expect(outcome.receipt.durationMs).toBeGreaterThan(3_000);
});

describe("a host", () => {
  const denied = (more: string) => ({
    ok: false,
    error: {
      code: "POLICY_DENIED",
      message: expect.stringContaining(more),
      hint: expect.stringContaining('"remove-it": "never"'),
    },
  });

  test.each([
    ["accepts without an answer", { action: "accept" }, "gave an invalid answer"],
    ["accepts with another one", { action: "accept", content: { answer: true } }, "gave an invalid answer"],
    ["answers nothing", undefined, "nobody could be asked"],
  ])("gives no consent if it %s", async (_, answer, words) => {
    await asking({ confirm: "always" }, "once");
    recorded.app.pool.setHost({
      responder: { capabilities: { elicitation: {} }, elicit: async () => answer as never },
    });
    expect(await recorded.run("return rec.remove_it({})")).toMatchObject(denied(words));
    expect(recorded.got()).toEqual([]);
  });

  test("gives no consent if it reports an error", async () => {
    await asking({ confirm: "always" }, "once");
    recorded.app.pool.setHost({
      responder: {
        capabilities: { elicitation: {} },
        elicit: () => Promise.reject(new Error("no window")),
      },
    });
    expect(await recorded.run("return rec.remove_it({})")).toMatchObject(denied("nobody could be asked: no window"));
    expect(recorded.got()).toEqual([]);
  });
});

test("very long arguments are shown in part, with a note", async () => {
  const person = await asking({ confirm: "always" }, "once");
  for (const length of [30_000, 2_000_000]) {
    const source = `return rec.remove_it({ first: 1, text: "x".repeat(${length}) + "END", last: 2 })`;
    expect(await recorded.run(source)).toMatchObject({ ok: true });
    const question = person.asked.at(-1)!;
    expect(question.length).toBeLessThan(2_500);
    for (const part of ['"first": 1', 'xEND"', '"last": 2', "characters are not shown"])
      expect(question).toContain(part);
  }
  expect(recorded.got()).toHaveLength(2);
});

test("the form offers three choices that every host can show", async () => {
  let form: unknown;
  await asking({ confirm: "always" }, "once");
  recorded.app.pool.setHost({
    responder: {
      capabilities: { elicitation: {} },
      elicit: async (params) => {
        form = params;
        return { action: "accept", content: { answer: "once" } };
      },
    },
  });
  await recorded.run("return rec.remove_it({ id: 1 })");
  expect(form).toMatchInlineSnapshot(`
    {
      "message": 
    "Allow the call to rec.remove-it?
    You are asked because mcpServers.rec.confirm says "always".
    Its arguments:

        {
          "id": 1
        }
    "
    ,
      "mode": "form",
      "requestedSchema": {
        "properties": {
          "answer": {
            "enum": [
              "once",
              "session",
              "no",
            ],
            "enumNames": [
              "Yes, once",
              "Yes, this tool for the rest of the session",
              "No",
            ],
            "title": "Allow this call?",
            "type": "string",
          },
        },
        "required": [
          "answer",
        ],
        "type": "object",
      },
    }
  `);
});

describe("confirm: destructive", () => {
  test("asks about every tool that is not declared harmless", async () => {
    const person = await asking({ confirm: "destructive" }, "no");
    const called = async (tool: string) => (await recorded.run(`return rec.${tool}({})`)).ok;
    expect([await called("read_it"), await called("add_it")]).toEqual([true, true]);
    expect(person.asked).toEqual([]);
    expect([await called("remove_it"), await called("plain_it"), await called("lie"), await called("odd")]).toEqual([
      false,
      false,
      false,
      false,
    ]);
    const says = 'says "destructive", and the server';
    expect(person.asked.map((question) => question.split("\n")[1])).toEqual([
      `You are asked because mcpServers.rec.confirm ${says} marks the tool as destructive.`,
      `You are asked because mcpServers.rec.confirm ${says} says nothing about what the tool changes.`,
      `You are asked because mcpServers.rec.confirm ${says} marks the tool as destructive.`,
      `You are asked because mcpServers.rec.confirm ${says} does not mark the tool as non-destructive.`,
    ]);
    expect(recorded.got().map(({ name }) => name)).toEqual(["read-it", "add-it"]);
  });

  test("uses the server's current annotations, not stored ones", async () => {
    const tool = (annotations: object) => [{ name: "turn", annotations }];
    await recorded.open({ confirm: "destructive" }, undefined, tool({ readOnlyHint: true }));
    // The next program takes the tool from the registry, while the server has changed.
    recorded.project.write("tools.json", tool({ readOnlyHint: false }));
    const app = await recorded.reopen();
    expect(app.catalog.find("rec")?.tools[0]?.annotations).toEqual({ readOnlyHint: true });
    expect(await recorded.run("return rec.turn({})")).toMatchObject({ ok: false, error: { code: "POLICY_DENIED" } });
    expect(recorded.got()).toEqual([]);
  });
});
