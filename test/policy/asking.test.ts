/** How somebody is asked: one question at a time, no longer than there is an execution, and with all that the call would do. */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { Person, Recorded } from "./recorded.ts";

setDefaultTimeout(30_000);

const recorded = new Recorded();
afterAll(() => recorded[Symbol.asyncDispose]());

async function asking(keys: object, ...answers: (string | object)[]): Promise<Person> {
  const person = new Person(...answers);
  (await recorded.open(keys)).pool.host = person.host;
  return person;
}

const hundred =
  "return (await Promise.allSettled(Array.from({ length: 100 }, (_, id) => rec.remove_it({ id })))).filter((each) => each.status === 'fulfilled').length";

test("calls beside each other: one question at a time, in their order, each with its own arguments", async () => {
  const person = await asking({ confirm: "always" }, "once", "no", "once");
  const { value } = (await recorded.run(
    "return (await Promise.allSettled([1, 2, 3].map((id) => rec.remove_it({ id })))).map(({ status }) => status)",
  )) as { value: unknown };
  expect(value).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect(person.mostAtOnce).toBe(1);
  expect(person.asked.map((question) => /"id": (\d)/.exec(question)?.[1])).toEqual(["1", "2", "3"]);
  expect(recorded.got().map(({ args }) => args)).toEqual([{ id: 1 }, { id: 3 }]);
});

test("a hundred calls: yes for the session counts for the rest, and for the code that follows", async () => {
  const person = await asking({ confirm: "destructive" }, "once", "session");
  expect(await recorded.run(hundred)).toMatchObject({ ok: true, value: 100 });
  expect(person.asked).toHaveLength(2);
  expect(await recorded.run(hundred)).toMatchObject({ ok: true, value: 100 });
  expect(person.asked).toHaveLength(2);
  expect(recorded.got()).toHaveLength(200);
  // It was said of that tool.
  await recorded.run("return rec.plain_it()");
  expect(person.asked).toHaveLength(3);
});

test.each([["decline"], ["cancel"]])(
  "a hundred calls: a question that is answered with %s is the last one of this code",
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

test("a hundred calls: who cancels the execution hears no more questions", async () => {
  const controller = new AbortController();
  const person = await asking({ confirm: "always" }, "once");
  const host = person.host;
  const stopped: boolean[] = [];
  recorded.toolbox.pool.host = {
    capabilities: host.capabilities,
    elicit: async (params, { server, signal }) => {
      if (person.asked.length < 2) return host.elicit!(params, { server, signal });
      person.asked.push(params.message);
      controller.abort();
      if (!signal.aborted) await new Promise((done) => signal.addEventListener("abort", done, { once: true }));
      stopped.push(signal.aborted);
      throw signal.reason;
    },
  };
  expect(await recorded.run(hundred, controller.signal)).toMatchObject({ ok: false, reason: "cancelled" });
  expect(person.asked).toHaveLength(3);
  expect(stopped).toEqual([true]);
  expect(recorded.got().length).toBeLessThanOrEqual(2);
  // And the next code is asked again.
  recorded.toolbox.pool.host = host;
  expect(await recorded.run("return rec.remove_it({ id: 5 })")).toMatchObject({ ok: true });
  expect(person.asked).toHaveLength(4);
});

test("time stands still while somebody is asked, also for a call that waits for its question", async () => {
  const person = await asking({ confirm: "always" }, "once");
  const { host } = person;
  recorded.toolbox.pool.host = {
    capabilities: host.capabilities,
    elicit: async (params, asked) => {
      await Bun.sleep(300);
      return host.elicit!(params, asked);
    },
  };
  const { execute } = await import("../../src/flows/execute.ts");
  const source = "return (await Promise.all([1, 2, 3].map((id) => rec.remove_it({ id })))).length";
  const outcome = await execute({ source, limits: { timeoutMs: 600 } }, recorded.toolbox);
  expect(outcome).toMatchObject({ ok: true, value: 3 });
  expect(outcome.receipt.durationMs).toBeGreaterThan(900);
});

describe("a host that fails", () => {
  const denied = (more: string) => ({
    ok: false,
    error: {
      code: "POLICY_DENIED",
      message: expect.stringContaining(more),
      hint: expect.stringContaining('"remove-it": "never"'),
    },
  });

  test.each([
    ["accepts without an answer", { action: "accept" }, "is neither yes nor no"],
    ["accepts with another one", { action: "accept", content: { answer: true } }, "is neither yes nor no"],
    ["answers nothing", undefined, "nobody could be asked"],
  ])("%s: nothing is called", async (_, answer, words) => {
    await asking({ confirm: "always" }, "once");
    recorded.toolbox.pool.host = { capabilities: { elicitation: {} }, elicit: async () => answer as never };
    expect(await recorded.run("return rec.remove_it({})")).toMatchObject(denied(words));
    expect(recorded.got()).toEqual([]);
  });

  test("says that it cannot: nothing is called", async () => {
    await asking({ confirm: "always" }, "once");
    recorded.toolbox.pool.host = {
      capabilities: { elicitation: {} },
      elicit: () => Promise.reject(new Error("no window")),
    };
    expect(await recorded.run("return rec.remove_it({})")).toMatchObject(denied("nobody could be asked: no window"));
    expect(recorded.got()).toEqual([]);
  });
});

test("arguments are shown whole; where they are too many, nothing is asked and nothing called", async () => {
  const person = await asking({ confirm: "always" }, "once");
  expect(await recorded.run('return rec.remove_it({ text: "x".repeat(30_000) + "END" })')).toMatchObject({ ok: true });
  expect(person.asked[0]).toContain(`${"x".repeat(30_000)}END`);
  expect(await recorded.run('return rec.remove_it({ text: "x".repeat(40_000) })')).toMatchObject({
    ok: false,
    error: {
      code: "POLICY_DENIED",
      message: expect.stringMatching(
        /^rec\.remove-it has to be confirmed, and its arguments make a question of \d+ characters, more than the 32000 that somebody can be shown$/,
      ),
      hint: expect.stringContaining('"remove-it": "never"'),
    },
  });
  expect(person.asked).toHaveLength(1);
  expect(recorded.got()).toHaveLength(1);
});

test("the form: a choice of three, in words that every host knows", async () => {
  let form: unknown;
  await asking({ confirm: "always" }, "once");
  recorded.toolbox.pool.host = {
    capabilities: { elicitation: {} },
    elicit: async (params) => {
      form = params;
      return { action: "accept", content: { answer: "once" } };
    },
  };
  await recorded.run("return rec.remove_it({ id: 1 })");
  expect(form).toMatchInlineSnapshot(`
    {
      "message": 
    "May rec.remove-it be called?
    You are asked because mcpServers.rec.confirm of the config says "always".
    It gets these arguments:

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
              "Yes, this once",
              "Yes, and this tool again in this session",
              "No",
            ],
            "title": "Call it?",
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

describe("destructive", () => {
  test("is what does not say that it is harmless", async () => {
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
    const says = 'of the config says "destructive", and its server';
    expect(person.asked.map((question) => question.split("\n")[1])).toEqual([
      `You are asked because mcpServers.rec.confirm ${says} says that it may destroy something.`,
      `You are asked because mcpServers.rec.confirm ${says} does not say that it could not destroy something.`,
      `You are asked because mcpServers.rec.confirm ${says} says that it may destroy something.`,
      `You are asked because mcpServers.rec.confirm ${says} does not say that it could not destroy something.`,
    ]);
    expect(recorded.got().map(({ name }) => name)).toEqual(["read-it", "add-it"]);
  });

  test("is what the server says now, and not what was known of it", async () => {
    const tool = (annotations: object) => [{ name: "turn", annotations }];
    await recorded.open({ confirm: "destructive" }, undefined, tool({ readOnlyHint: true }));
    // The next program knows the tool from the registry; the server has changed meanwhile.
    recorded.project.write("tools.json", tool({ readOnlyHint: false }));
    const toolbox = await recorded.reopen();
    expect(toolbox.known("rec")?.tools[0]?.annotations).toEqual({ readOnlyHint: true });
    expect(await recorded.run("return rec.turn({})")).toMatchObject({ ok: false, error: { code: "POLICY_DENIED" } });
    expect(recorded.got()).toEqual([]);
  });
});
