/** A server cannot take back what it has said about the data of its tools. */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { Label } from "../../../src/config/policy.ts";
import { type StatingTool, ToolLabels } from "../../../src/policy/flow/tool-labels.ts";
import { acceptTools, heldServers } from "../../../src/tools/definitions/review.ts";
import { Person, Recorded } from "../recorded.ts";

setDefaultTimeout(60_000);

describe("labels in one process", () => {
  const closed: StatingTool = { annotations: { openWorldHint: false } };
  const public_: StatingTool = { ...closed, labels: ["public"] };
  const untrusted: StatingTool = { ...closed, labels: ["untrusted"] };

  /** The labels after each of these lists, with or without the tool. */
  async function labelsAfter(mode: string | undefined, ...lists: (StatingTool | undefined)[]): Promise<Label[][]> {
    let listed: StatingTool | undefined;
    const entry = mode === undefined ? {} : { definitions: { mode } };
    const servers = new Map([["rec", entry]]);
    const labels = new ToolLabels({ servers, fromCatalog: undefined, toolsOf: () => [], listed: () => listed });
    await labels.load("rec");
    return lists.map((list) => {
      listed = list;
      return [...labels.of("rec", "resize")].sort();
    });
  }

  test.each(["trust", "warn", undefined])("are added up by later lists, with the mode %s", async (mode) => {
    expect(await labelsAfter(mode, public_, closed, untrusted, undefined, closed)).toEqual([
      ["public"],
      ["public"],
      ["public", "untrusted"],
      ["public", "untrusted"],
      ["public", "untrusted"],
    ]);
  });

  test("are those of the list with the mode lock, because the list has what nobody has reviewed, and stay while it has no such tool", async () => {
    expect(await labelsAfter("lock", public_, undefined, public_, closed)).toEqual([
      ["public"],
      ["public"],
      ["public"],
      [],
    ]);
  });

  test("stated before the catalog was loaded are not forgotten", async () => {
    let listed: StatingTool | undefined = public_;
    const labels = new ToolLabels({
      servers: new Map([["rec", {}]]),
      fromCatalog: async () => undefined,
      toolsOf: () => [],
      listed: () => listed,
    });
    expect([...labels.of("rec", "resize")]).toEqual(["public"]);
    listed = closed;
    await labels.load("rec");
    expect([...labels.of("rec", "resize")]).toEqual(["public"]);
  });
});

describe("a session with a real server", () => {
  const recorded = new Recorded();
  afterAll(() => recorded[Symbol.asyncDispose]());

  const labels = { get_issue: ["untrusted"], get_key: ["private"] };
  const reading = [{ name: "get_issue" }, { name: "get_key" }];
  const post = { name: "thing", annotations: { openWorldHint: true, destructiveHint: false } };
  const silent = { name: "thing", annotations: { destructiveHint: false, openWorldHint: false } };
  const code = "await rec.get_issue({}); await rec.get_key({}); await rec.thing({ text: 'a' })";

  async function posts(person: Person): Promise<boolean> {
    recorded.app.pool.setHost({ responder: person.host });
    await recorded.run(code);
    return recorded.got().some(({ name }) => name === "thing");
  }

  const offer = (...tools: object[]) => recorded.project.write("tools.json", tools);

  const surroundings = () => ({
    config: recorded.app.config,
    env: { HOME: recorded.project.path },
    cwd: recorded.project.path,
  });

  test.each<[string, object[]]>([
    ["the hint is gone", [{ ...silent, annotations: { destructiveHint: false } }]],
    ["the hint is false", [silent]],
    ["there are two tools of the name", [post, silent]],
    ["there are two tools of the name, the other way round", [silent, post]],
    ["the name has another case", [post, { ...silent, name: "THING" }]],
  ])("with locked definitions does not call a tool unasked if %s", async (_, now) => {
    await recorded.open({ labels, definitions: "lock" }, undefined, [...reading, post]);
    offer(...reading, ...now);
    await recorded.app.catalog.list("rec");
    const person = new Person("no");
    recorded.app.pool.setHost({ responder: person.host });
    await recorded.run(
      `await rec.get_issue({}); await rec.get_key({}); await servers.rec[${JSON.stringify((now.at(-1) as { name: string }).name)}]({ text: 'a' })`,
    );
    expect(recorded.got().filter(({ name }) => name?.toLowerCase() === "thing")).toEqual([]);
  });

  test("with locked definitions asks nothing once a person has accepted that the label is gone", async () => {
    await recorded.open({ labels, definitions: "lock" }, undefined, [...reading, post]);
    const person = new Person("no");
    expect(await posts(person)).toBe(false);
    expect(person.asked).toHaveLength(1);
    offer(...reading, silent);
    await recorded.app.catalog.list("rec");
    const held = heldServers(surroundings()).flatMap(({ tools }) => tools);
    expect(held.map(({ tool, why }) => [tool, why])).toEqual([
      [
        "thing",
        ["openWorldHint is false now, so the tool looks safer", "its definition no longer says that it is public"],
      ],
    ]);
    await acceptTools(held, surroundings());
    await recorded.app.catalog.list("rec");
    expect(await posts(person)).toBe(true);
    expect(person.asked).toHaveLength(1);
  });

  test.each(["warn", "trust"])("with %s asks although the hint is gone in a later list", async (definitions) => {
    await recorded.open({ labels, definitions }, undefined, [...reading, post]);
    const person = new Person("no");
    expect(await posts(person)).toBe(false);
    for (const now of [[silent], [], [silent]]) {
      offer(...reading, ...now);
      await recorded.app.catalog.list("rec");
    }
    expect(await posts(person)).toBe(false);
    expect(person.asked).toHaveLength(2);
  });

  test("with warn asks in the next session too, and with two entries of one name in any order", async () => {
    await recorded.open({ labels, definitions: "warn" }, undefined, [...reading, post]);
    for (const now of [[silent], [post, silent], [silent, post]]) {
      offer(...reading, ...now);
      await recorded.reopen();
      await recorded.app.catalog.list("rec");
      const person = new Person("no");
      expect([await posts(person), person.asked.length]).toEqual([false, 1]);
    }
  });

  test("with trust asks if one of two entries of one name has the hint", async () => {
    for (const now of [
      [post, silent],
      [silent, post],
    ]) {
      await recorded.open({ labels, definitions: "trust" }, undefined, [...reading, ...now]);
      const person = new Person("no");
      expect([await posts(person), person.asked.length]).toEqual([false, 1]);
    }
  });
});
