/** Every way to call a tool with every setting of the policy: a denied call never reaches the server. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { Person, Recorded } from "./recorded.ts";
import { ways } from "./ways.ts";

setDefaultTimeout(60_000);

const recorded = new Recorded();
beforeAll(() => recorded.project);
afterAll(() => recorded[Symbol.asyncDispose]());

const every = Object.entries(ways);
const args = { id: 7 };

describe("a call is made", () => {
  test.each([
    ["without any rule", {}, undefined],
    ["if the tool is allowed", { allow: ["remove-*"] }, undefined],
    ["if the tool is allowed in both places", { allow: ["remove-*"] }, { allow: ["rec.*"] }],
    ["if another tool is denied", { deny: ["add-*"] }, { deny: ["other.*", "rec.read-it"] }],
    ["if other tools are confirmed", { confirm: { "read-*": "always" } }, undefined],
    ["if the tool is an exception", { confirm: { "*": "always", "remove-*": "never" } }, undefined],
    ["if the entry of its server allows it", { confirm: "never" }, { confirm: { "rec.*": "always" } }],
  ])("%s", async (_, keys, policy) => {
    await recorded.open(keys, policy);
    for (const [name, way] of every) {
      expect([name, await way(recorded, "remove-it", args)]).toEqual([name, { ok: true }]);
      expect([name, recorded.got()]).toEqual([name, [{ name: "remove-it", args }]]);
    }
  });
});

describe("a call is denied before it reaches the server", () => {
  const notIn = (line: string) => `rec.remove-it is denied in the config: it is not in ${line}`;
  test.each([
    ["by a name", { deny: ["remove-it"] }, undefined, 'by mcpServers.rec.deny[0], "remove-it"'],
    ["by a pattern", { deny: ["x", "remove*"] }, undefined, 'by mcpServers.rec.deny[1], "remove*"'],
    ["with its id", { deny: ["rec.remove-it"] }, undefined, 'by mcpServers.rec.deny[0], "rec.remove-it"'],
    ["for all", {}, { deny: ["*.remove-*"] }, 'by policy.deny[0], "*.remove-*"'],
    ["with all of the server", {}, { deny: ["rec.*"] }, 'by policy.deny[0], "rec.*"'],
    ["and allowed", { allow: ["*"], deny: ["*-it"], confirm: "never" }, undefined, 'by mcpServers.rec.deny[0], "*-it"'],
    ["since it is not allowed", { allow: ["read-*"] }, undefined, notIn("mcpServers.rec.allow")],
    ["since nothing is allowed", { allow: [] }, undefined, notIn("mcpServers.rec.allow")],
    ["since it is not allowed for all", { allow: ["*"] }, { allow: ["rec.read-*", "b.*"] }, notIn("policy.allow")],
    ["since others are allowed for all", {}, { allow: ["other.*"] }, notIn("policy.allow")],
  ])("%s", async (_, keys, policy, why) => {
    const person = new Person("session");
    const app = await recorded.open(keys, policy);
    app.pool.setHost({ responder: person.host });
    for (const [name, way] of every) {
      const { ok, code, message, hint } = await way(recorded, "remove-it", args);
      expect([name, ok, code, hint]).toEqual([name, false, "POLICY_DENIED", undefined]);
      expect(message).toBe(why.startsWith("by") ? `rec.remove-it is denied in the config ${why}` : why);
    }
    expect(recorded.got()).toEqual([]);
    expect(person.asked).toEqual([]);
  });
});

describe("a call that needs confirmation", () => {
  const asked = { keys: { confirm: "always" }, policy: undefined };
  const settings: [string, { keys: object; policy: object | undefined }][] = [
    ["always", asked],
    ["as one of them", { keys: { confirm: { "*": "never", "remove-*": "always" } }, policy: undefined }],
    ["since it is destructive", { keys: { confirm: "destructive" }, policy: undefined }],
    ["for all", { keys: {}, policy: { confirm: { "*.remove-it": "destructive" } } }],
  ];

  test.each(settings)("%s is made after consent", async (_, { keys, policy }) => {
    const person = new Person("once");
    const app = await recorded.open(keys, policy);
    app.pool.setHost({ responder: person.host });
    for (const [name, way] of every) {
      expect([name, await way(recorded, "remove-it", args)]).toEqual([name, { ok: true }]);
      expect([name, recorded.got()]).toEqual([name, [{ name: "remove-it", args }]]);
    }
    expect(person.asked).toHaveLength(every.length);
    for (const question of person.asked) {
      expect(question).toStartWith("Allow the call to rec.remove-it?\nYou are asked because ");
      expect(question).toContain('"id": 7');
    }
  });

  test.each(settings)(
    "%s is made without another question after consent for the session",
    async (_, { keys, policy }) => {
      const person = new Person("session", "no");
      const app = await recorded.open(keys, policy);
      app.pool.setHost({ responder: person.host });
      for (const [name, way] of every) {
        expect([name, await way(recorded, "remove-it", args)]).toEqual([name, { ok: true }]);
      }
      expect(recorded.got()).toHaveLength(every.length);
      expect(person.asked).toHaveLength(1);
    },
  );

  const no = { message: "the person said no", hint: "Go on without it, or ask the person what to do instead." };
  const cancelled = {
    message: "the question was cancelled without an answer",
    hint: 'Run the agent where a person can answer: without one, it cancels every question. To call it without confirmation, set "confirm": { "*": "always", "remove-it": "never" } in mcpServers.rec of the config',
  };

  test.each([
    ["a person who says no", "no", no],
    ["a person who declines", { action: "decline" }, no],
    ["nobody, since the agent cancels the question", { action: "cancel" }, cancelled],
  ])("is refused with its own reason and next step after %s", async (_, answer, { message, hint }) => {
    const person = new Person(answer);
    for (const [name, way] of every) {
      // A new program for each, because refused questions are not repeated.
      const app = await recorded.open(asked.keys);
      app.pool.setHost({ responder: person.host });
      expect([name, await way(recorded, "remove-it", args)]).toEqual([
        name,
        {
          ok: false,
          code: "POLICY_DENIED",
          message: `rec.remove-it was not called: ${message}`,
          hint,
        },
      ]);
    }
    expect(recorded.got()).toEqual([]);
    expect(person.asked).toHaveLength(every.length);
  });

  test.each([
    ["no host", undefined],
    ["a host without elicitation", { capabilities: { sampling: {}, roots: {} } }],
    [
      "a host that shows addresses alone",
      { capabilities: { elicitation: { url: {} } }, elicit: new Person("once").host.elicit! },
    ],
  ])("is refused with the line that would allow it, by %s", async (_, host) => {
    const app = await recorded.open({ confirm: { "*": "always" } });
    app.pool.setHost({ responder: host });
    for (const [name, way] of every) {
      const { code, message, hint } = await way(recorded, "remove-it", args);
      expect([name, code, message]).toEqual([
        name,
        "POLICY_DENIED",
        "rec.remove-it needs a person's confirmation, and nobody can be asked here",
      ]);
      expect(hint).toBe(
        'To call it without confirmation, set "confirm": { "*": "always", "remove-it": "never" } in mcpServers.rec of the config',
      );
    }
    expect(recorded.got()).toEqual([]);
  });

  test("is allowed by the line that the refusal names", async () => {
    for (const keys of [
      { confirm: "destructive" },
      { confirm: { "remove-*": "always", "*it": "always", "remove-it": "always" } },
    ]) {
      await recorded.open(keys, { confirm: { "rec.*": "always" } });
      const { hint = "" } = await ways["global"]!(recorded, "remove-it", args);
      const line = JSON.parse(`{${hint.slice(hint.indexOf('"confirm"'), hint.lastIndexOf("}") + 1)}}`);
      await recorded.open(line, { confirm: { "rec.*": "always" } });
      for (const [name, way] of every)
        expect([name, await way(recorded, "remove-it", args)]).toEqual([name, { ok: true }]);
      expect(recorded.got()).toHaveLength(every.length);
    }
  });
});
