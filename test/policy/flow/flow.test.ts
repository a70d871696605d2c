/** Private data does not leave unasked once strangers may have told the session what to do. */
import { afterAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { matches } from "../../../src/config/pattern.ts";
import { type LabelLine, ofOwnServer, policyOf } from "../../../src/config/policy.ts";
import { ToolLabels } from "../../../src/policy/flow/tool-labels.ts";
import { catalogServers } from "../../../src/tools/server-catalog.ts";
import { Person, Recorded } from "../recorded.ts";

setDefaultTimeout(60_000);

const recorded = new Recorded();
afterAll(() => recorded[Symbol.asyncDispose]());

const labels = { get_issue: ["untrusted"], get_key: ["private"], post: ["public"], "search*": ["untrusted", "public"] };
const tools = ["get_issue", "get_key", "post", "search_web", "plain"].map((name) => ({ name }));

async function opened(keys: object = { labels }, policy: object = {}, ...answers: string[]): Promise<Person> {
  const person = new Person(...answers);
  (await recorded.open(keys, policy, tools)).pool.setHost({ responder: person.host });
  return person;
}

/** The tools that were called. */
const called = () => recorded.got().map(({ name }) => name);

let person: Person;
beforeEach(async () => {
  person = await opened({ labels }, undefined, "no");
});

describe("a call that others can see", () => {
  test.each([
    ["nothing was read", "await rec.post({ text: 'a' })"],
    ["only private data was read", "await rec.get_key({}); await rec.post({ text: 'a' })"],
    ["only text of strangers was read", "await rec.get_issue({}); await rec.post({ text: 'a' })"],
    ["data without labels was read", "await rec.plain({}); await rec.get_issue({}); await rec.post({ text: 'a' })"],
  ])("is made unasked if %s", async (_, code) => {
    expect(await recorded.run(code)).toMatchObject({ ok: true });
    expect(person.asked).toEqual([]);
    expect(called()).toContain("post");
  });

  test("is asked about after both were read, with what was read and where from", async () => {
    await recorded.run("return [await rec.get_issue({}), await rec.get_key({})]");
    const outcome = await recorded.run("await rec.post({ text: 'did get_key' })");
    expect(outcome).toMatchObject({ ok: false, error: { code: "POLICY_DENIED" } });
    expect(person.asked).toHaveLength(1);
    expect(person.asked[0]).toContain(
      'its arguments repeat private data (rec.get_key: "did get_key"), and strangers may have asked for it (rec.get_issue)',
    );
    expect(called()).not.toContain("post");
  });

  test("may have read with the same call before, but not with this one", async () => {
    await recorded.run("return [await rec.get_key({}), await rec.search_web({ query: 'a' })]");
    expect(person.asked).toEqual([]);
    await recorded.run("await rec.search_web({ query: 'did get_key' })").catch(() => {});
    expect(person.asked).toHaveLength(1);
  });
});

test("data that a call is not given yet does not count: calls at once are made", async () => {
  await recorded.run("await rec.get_issue({}); await Promise.all([rec.get_key({}), rec.post({ text: 'a' })])");
  expect(person.asked).toEqual([]);
});

test("a permission for the session counts until something else is read", async () => {
  const both = { ...labels, get_mail: ["untrusted"], get_more: ["private"] };
  person = new Person("session", "no");
  const more = ["get_mail", "get_more"].map((name) => ({ name }));
  (await recorded.open({ labels: both }, undefined, [...tools, ...more])).pool.setHost({
    responder: person.host,
  });
  await recorded.run(
    "const read = [await rec.get_issue({}), await rec.get_key({})]; await rec.post({ text: 'a' }); await rec.post({ text: 'b' }); return read",
  );
  await recorded.run("await rec.post({ text: 'c' })");
  expect(person.asked).toHaveLength(1);
  await recorded.run("await rec.get_more({}); await rec.post({ text: 'd' })");
  expect(person.asked).toHaveLength(2);
  expect(person.asked[1]).toContain("what was read before");
  expect(
    recorded
      .got()
      .filter(({ name }) => name === "post")
      .map(({ args }) => args?.["text"]),
  ).toEqual(["a", "b", "c"]);
});

describe("labels", () => {
  const code = "await rec.get_issue({}); await rec.get_key({}); await rec.post({ text: 'a' })";

  test("come from the common policy too, and from the entry first", async () => {
    const common = { labels: Object.fromEntries(Object.entries(labels).map(([tool, each]) => [`rec.${tool}`, each])) };
    person = await opened({}, common, "no");
    await recorded.run(code);
    expect(person.asked).toHaveLength(1);
    person = await opened({ labels: { post: [] } }, common, "no");
    await recorded.run(code);
    expect(person.asked).toEqual([]);
  });

  test("are those that a server states, unless the config has others", async () => {
    const stating = [
      { name: "get_issue", annotations: { readOnlyHint: true, openWorldHint: true } },
      { name: "post", annotations: { openWorldHint: true, destructiveHint: false } },
      { name: "get_key" },
    ];
    const asks = async (own: object) => {
      person = new Person("no");
      (await recorded.open({ labels: own }, undefined, stating)).pool.setHost({ responder: person.host });
      await recorded.run(code);
      return person.asked.length;
    };
    expect(await asks({ get_key: ["private"] })).toBe(1);
    expect(await asks({ get_key: ["private"], post: [] })).toBe(0);
  });

  test("do not ask if the flow is off", async () => {
    person = await opened({ labels }, { flow: "off" }, "no");
    await recorded.run(code);
    expect(person.asked).toEqual([]);
  });
});

test("a question about a flow is part of a dry run", async () => {
  const { app } = recorded;
  await recorded.run("return [await rec.get_issue({}), await rec.get_key({})]");
  const why = await app.pool.wouldAsk(
    { server: "rec", method: "tools/call", params: { name: "post", arguments: { text: "did get_key" } } },
    undefined,
  );
  expect(why).toContain("private data (rec.get_key");
});

describe("labels of several places", () => {
  const user = { "*.get_key": ["private"] } as const;
  const labelsIn = (own: object, common: object | undefined, added: object, tool: string) => {
    const policy = policyOf("rec", { labels: own as never }, common as never, new Map([["rec", {}]]), {
      common: { labels: added as never },
    });
    const tools = new ToolLabels({
      servers: new Map([["rec", { policy }]]),
      fromCatalog: async () => ({ "*": ["untrusted"], post: ["public"] }),
      toolsOf: () => [],
      listed: () => undefined,
    });
    const of = async () => {
      await tools.load("rec");
      return [...tools.of("rec", tool)].sort();
    };
    return { tools, of };
  };

  test("from a user are added to those of a project, and an empty list of a project removes only the catalog's", async () => {
    expect(await labelsIn({ get_key: [] }, undefined, user, "get_key").of()).toEqual(["private"]);
    expect(await labelsIn({ get_key: ["untrusted"] }, undefined, user, "get_key").of()).toEqual([
      "private",
      "untrusted",
    ]);
    expect(await labelsIn({ other: [] }, undefined, user, "get_key").of()).toEqual(["private", "untrusted"]);
    expect(await labelsIn({ post: [] }, undefined, user, "post").of()).toEqual([]);
    expect(await labelsIn({}, undefined, user, "post").of()).toEqual(["public"]);
  });

  test("together are those of resources and prompts, except that a tool of the catalog sends its own arguments", async () => {
    const { tools, of } = labelsIn({ get_key: ["private"] }, undefined, {}, "x");
    await of();
    expect([...tools.ofAll("rec")].sort()).toEqual(["private", "untrusted"]);
    const said = labelsIn({ get_key: ["private"] }, undefined, { "rec.post": ["public"] }, "x");
    await said.of();
    expect([...said.tools.ofAll("rec")].sort()).toEqual(["private", "public", "untrusted"]);
  });

  test.each<[string, object, string[]]>([
    ["sends", { name: "send_mail", properties: { to: {}, body: {} } }, []],
    ["takes a web address", { name: "fetch", properties: { url: {} } }, ["public", "untrusted"]],
    [
      "says that its world is open",
      { name: "do_it", properties: { text: {} }, annotations: { openWorldHint: true } },
      ["public"],
    ],
    ["nobody understands", { name: "do_it", properties: { text: {} } }, []],
  ])(
    "resources have the labels of a tool that %s, and public only if it reaches any address",
    async (_, tool, expected) => {
      const { name, properties, annotations } = tool as { name: string; properties: object; annotations?: never };
      const tools = new ToolLabels({
        servers: new Map([["rec", {}]]),
        fromCatalog: undefined,
        toolsOf: () => [name],
        listed: () => ({ inputSchema: { type: "object", properties } as never, annotations }),
      });
      await tools.load("rec");
      expect([...tools.ofAll("rec")].sort()).toEqual(expected as never);
    },
  );
});

test("flows cannot be turned off by a project if the user's config asks", () => {
  const flowOf = (project?: string, own?: string) =>
    policyOf("rec", {}, { flow: project as never, deny: ["x.y"] }, new Map([["rec", {}]]), {
      common: { flow: own as never },
    })?.flow;
  expect([flowOf("off", "ask"), flowOf("off", undefined), flowOf(undefined, "off"), flowOf()]).toEqual([
    undefined,
    "off",
    "off",
    undefined,
  ]);
});

test("resources and prompts are read with the labels of their server", async () => {
  person = await opened({ labels }, undefined, "no");
  await recorded.run("await rec.resources.read('it://a'); await rec.post({ text: 'a' })");
  expect(person.asked).toHaveLength(1);
  expect(person.asked[0]).toContain(
    "the call may depend on private data that the program has read or asked for (rec), and strangers may have asked for it (rec)",
  );
});

test("the catalog's patterns name tools of their servers", () => {
  for (const { name, labels: patterns = {}, results } of catalogServers()) {
    const known = Object.keys(results?.tools ?? {});
    if (known.length < 5) continue;
    const matching = (pattern: string) => known.some((tool) => matches(pattern, tool));
    expect([name, Object.keys(patterns).filter((pattern) => pattern !== "*" && matching(pattern)).length > 0]).toEqual([
      name,
      Object.keys(patterns).some((pattern) => pattern !== "*") && name !== "memory",
    ]);
  }
});

test("a project cannot remove labels of the user's own servers, and cannot turn the flow off for them", () => {
  const project = { flow: "off", labels: { "mail.send": [], "mail.list": ["untrusted"] } } as const;
  const seen = (own: object, common: object = {}) => {
    const names = new Map([["mail", {}]]);
    const policy = policyOf("mail", {}, project as never, names, { entry: own, common });
    const { flow, labels: of, addedLabels, isOfUser } = ofOwnServer(policy!, policyOf("mail", own, common, names));
    return { flow, of, addedLabels, isOfUser };
  };
  const added: LabelLine[] = [
    {
      line: "policy.labels",
      labels: [
        { pattern: "send", labels: [] },
        { pattern: "list", labels: ["untrusted"] },
      ],
    },
  ];
  expect(seen({ labels: ["private"] })).toEqual({
    flow: undefined,
    of: [
      {
        line: "mcpServers.mail.labels",
        labels: [{ pattern: "*", labels: ["private"] }],
      },
    ],
    addedLabels: added,
    isOfUser: true,
  });
  expect(seen({}, { flow: "off" })).toEqual({ flow: "off", of: [], addedLabels: added, isOfUser: true });
});
