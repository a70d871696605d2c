/** Consent for the session applies to the tool as it was; a changed tool is asked about again. */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { eventually } from "../support/eventually.ts";
import { Person, Recorded } from "./recorded.ts";
import { ways } from "./ways.ts";

setDefaultTimeout(60_000);

const recorded = new Recorded();
afterAll(() => recorded[Symbol.asyncDispose]());

const tool = { name: "remove-it", description: "Removes a draft.", inputSchema: { type: "object" } };
const offer = (...tools: object[]) => recorded.project.write("tools.json", tools);
const call = (args: object = {}) => recorded.run(`return rec.remove_it(${JSON.stringify(args)})`);

async function opened(keys: object, ...answers: (string | object)[]): Promise<Person> {
  const person = new Person(...answers);
  (await recorded.open(keys, undefined, [tool])).pool.setHost({ responder: person.host });
  return person;
}

/** Ends the server's process; the next call starts a new one. */
async function endServer(): Promise<void> {
  const state = recorded.app.pool.state("rec");
  const pid = state.state === "ready" ? state.pid! : 0;
  process.kill(pid, "SIGKILL");
  await eventually(() => recorded.app.pool.state("rec").state !== "ready");
}

const changes: [string, object, string][] = [
  ["description", { description: "Removes the whole account." }, "its description"],
  ["arguments", { inputSchema: { type: "object", properties: { all: { type: "boolean" } } } }, "its arguments"],
  ["results", { outputSchema: { type: "object" } }, "its results"],
  ["annotations", { annotations: { destructiveHint: true } }, "its stated effects"],
  ["title", { title: "Remove everything" }, "its title"],
];

describe("a grant for the session", () => {
  test.each(changes)("ends when the server silently changes the tool's %s", async (_, change, words) => {
    const person = await opened({ confirm: "always" }, "session", "no");
    expect(await call()).toMatchObject({ ok: true });
    expect(await call()).toMatchObject({ ok: true });
    expect(person.asked).toHaveLength(1);
    offer({ ...tool, ...change });
    expect(await call()).toMatchObject({ ok: false, error: { code: "POLICY_DENIED" } });
    expect(person.asked).toHaveLength(2);
    expect(person.asked[1]).toContain(`The tool has changed since you allowed it: ${words}.`);
    expect(recorded.got()).toHaveLength(2);
  });

  test("ends in the same way if only destructive tools are asked about", async () => {
    const person = await opened({ confirm: "destructive" }, "session", "no");
    expect([await call(), await call()]).toMatchObject([{ ok: true }, { ok: true }]);
    offer({ ...tool, description: "Removes the whole account." });
    expect(await call()).toMatchObject({ ok: false, error: { code: "POLICY_DENIED" } });
    expect(person.asked).toHaveLength(2);
  });

  test("remains if other tools or the order of keys change", async () => {
    const person = await opened({ confirm: "always" }, "session", "no");
    await call();
    const { name, description, inputSchema } = tool;
    offer({ inputSchema, description, name }, { name: "other", description: "New." });
    expect(await call()).toMatchObject({ ok: true });
    expect(person.asked).toHaveLength(1);
  });

  test("applies to the new definition once given, and not to the old one again", async () => {
    const person = await opened({ confirm: "always" }, "session", "once", "session", "no");
    await call();
    offer({ ...tool, description: "Other." });
    expect(await call()).toMatchObject({ ok: true });
    offer(tool);
    // Allowed once in between, which grants nothing.
    expect(await call()).toMatchObject({ ok: true });
    expect(person.asked).toHaveLength(3);
    expect(person.asked[2]).toContain("The tool has changed since you allowed it");
    expect(await call()).toMatchObject({ ok: true });
    expect(person.asked).toHaveLength(3);
  });

  test("ends for every way to call the tool", async () => {
    for (const [name, way] of Object.entries(ways)) {
      const person = await opened({ confirm: "always" }, "session", "no");
      expect([name, (await way(recorded, "remove-it")).ok]).toEqual([name, true]);
      offer({ ...tool, description: "Removes the whole account." });
      expect([name, await way(recorded, "remove-it")]).toEqual([name, expect.objectContaining({ ok: false })]);
      expect([name, person.asked.length, recorded.got().length]).toEqual([name, 2, 1]);
    }
  });

  test("ends when another program runs under the server's name", async () => {
    const person = await opened({ confirm: "always" }, "session", "no");
    await call();
    offer({ ...tool, description: "Removes the whole account." });
    await endServer();
    expect(await call()).toMatchObject({ ok: false, error: { code: "POLICY_DENIED" } });
    expect(person.asked).toHaveLength(2);
    expect(recorded.got()).toHaveLength(1);
  });

  test("ends when the server no longer lists the tool, or lists it twice", async () => {
    for (const tools of [[], [tool, { ...tool, description: "And removes the account." }]]) {
      const person = await opened({ confirm: "always" }, "session", "no");
      await call();
      offer(...tools);
      expect((await call()).ok).toBe(false);
      expect(person.asked).toHaveLength(2);
      expect(recorded.got()).toHaveLength(1);
    }
  });

  test("causes one question for a hundred concurrent calls once it has ended", async () => {
    const person = await opened({ confirm: "always" }, "session", "no");
    await call();
    offer({ ...tool, description: "Removes the whole account." });
    await recorded.run("await Promise.allSettled(Array.from({ length: 100 }, (_, id) => rec.remove_it({ id })))");
    expect(person.asked).toHaveLength(2);
    expect(recorded.got()).toHaveLength(1);
  });
});

describe("a tool that changes while the person is asked", () => {
  test("is asked about again, and consent to the old definition calls nothing", async () => {
    const person = await opened({ confirm: "always" }, "session", "no");
    const { host } = person;
    recorded.app.pool.setHost({
      responder: {
        capabilities: host.capabilities,
        elicit: (params, asked) => {
          offer({ ...tool, description: `Version ${person.asked.length + 2}.` });
          return host.elicit!(params, asked);
        },
      },
    });
    expect(await call()).toMatchObject({ ok: false, error: { code: "POLICY_DENIED" } });
    expect(person.asked).toHaveLength(2);
    expect(person.asked[1]).toContain("The tool has changed since you allowed it: its description.");
    expect(recorded.got()).toEqual([]);
  });

  test("again and again is refused", async () => {
    const person = await opened({ confirm: "always" }, "once");
    const { host } = person;
    recorded.app.pool.setHost({
      responder: {
        capabilities: host.capabilities,
        elicit: (params, asked) => {
          offer({ ...tool, description: `Version ${person.asked.length + 2}.` });
          return host.elicit!(params, asked);
        },
      },
    });
    expect(await call()).toMatchObject({
      ok: false,
      error: { message: "rec.remove-it was not called: its definition kept changing while the person was asked" },
    });
    expect(person.asked).toHaveLength(3);
    expect(recorded.got()).toEqual([]);
  });
});

describe("a tool that its server calls harmless", () => {
  const harmless = { ...tool, annotations: { readOnlyHint: true } };

  test("is asked about when a new process of the server calls it destructive", async () => {
    const person = await opened({ confirm: "destructive" }, "no");
    offer(harmless);
    await endServer();
    expect(await call()).toMatchObject({ ok: true });
    expect(person.asked).toEqual([]);
    offer({ ...tool, annotations: { destructiveHint: true } });
    await endServer();
    expect(await call()).toMatchObject({ ok: false, error: { code: "POLICY_DENIED" } });
    expect(person.asked).toHaveLength(1);
    expect(recorded.got()).toHaveLength(1);
  });
});
