/** Files and the outcomes of programs, as events. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, renameSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { executionHolder } from "../../../src/store/labels.ts";
import { cli } from "../../cli/in-memory.ts";
import { eventually } from "../../support/eventually.ts";
import { fixture } from "../../support/servers.ts";
import { EventPlace, type OpenPlace } from "./place.ts";

setDefaultTimeout(60_000);

const showEvent = "return counting.act({ name: JSON.stringify([input.event.change, input.event.path]) });";

/** Looks often enough for files to have settled. */
async function settled(at: OpenPlace): Promise<void> {
  for (let look = 0; look < 3; look++) await at.events.look();
  await eventually(async () => (await at.deliveries()).every(({ state }) => state === "done"));
}

test("a new file and a changed one start the program once, and others do not", async () => {
  using place = new EventPlace();
  await place.save("import", showEvent);
  const inbox = join(place.folder.path, "inbox");
  mkdirSync(join(inbox, "sub"), { recursive: true });
  place.folder.write("inbox/old.csv", "old");
  place.folder.write("secret.csv", "x");
  await using one = await place.open();
  await one.on("import", { on: { kind: "file", folder: inbox, pattern: "**/*.csv" } });
  await settled(one);
  expect(place.calls).toEqual([]);
  place.folder.write("inbox/a.csv", "1");
  place.folder.write("inbox/sub/b.csv", "1");
  place.folder.write("inbox/c.txt", "1");
  symlinkSync(join(place.folder.path, "secret.csv"), join(inbox, "link.csv"));
  await settled(one);
  await settled(one);
  expect(place.calls.toSorted()).toEqual(['act ["new","a.csv"]', 'act ["new","sub/b.csv"]']);
  place.folder.write("inbox/old.csv", "newer");
  await settled(one);
  expect(place.calls.at(-1)).toBe('act ["changed","old.csv"]');
  renameSync(join(inbox, "a.csv"), join(inbox, "d.csv"));
  await settled(one);
  expect(place.calls.slice(3)).toEqual(['act ["new","d.csv"]']);
});

test("a file that is being written is one event, and a change while no process looks is found", async () => {
  using place = new EventPlace();
  await place.save("import", showEvent);
  {
    await using one = await place.open();
    await one.on("import", { on: { kind: "file", folder: place.folder.path, pattern: "growing.log" } });
    await one.events.look();
    for (let line = 1; line <= 4; line++) {
      place.folder.write("growing.log", "x".repeat(line));
      await one.events.look();
    }
    expect(await one.deliveries()).toEqual([]);
    await settled(one);
    expect(place.calls).toEqual(['act ["new","growing.log"]']);
  }
  place.folder.write("growing.log", "longer than before");
  await using two = await place.open();
  await settled(two);
  expect(place.calls.slice(1)).toEqual(['act ["changed","growing.log"]']);
  // A process that does not watch files leaves them.
  await using other = await place.open({ watches: false });
  place.folder.write("growing.log", "");
  await settled(other);
  expect(place.calls).toHaveLength(2);
});

test("a file that comes before any process has looked is an event", async () => {
  using place = new EventPlace();
  await place.save("import", showEvent);
  place.folder.write("old.csv", "x");
  await using one = await place.open();
  await one.on("import", { on: { kind: "file", folder: place.folder.path, pattern: "*.csv" } });
  place.folder.write("new.csv", "x");
  await settled(one);
  expect(place.calls).toEqual(['act ["new","new.csv"]']);
});

test("updates of a resource start the program, several together once", async () => {
  using place = new EventPlace();
  const shop = { ...fixture("protocol", "stdio", place.folder.path), labels: {} };
  place.folder.configure({ counting: fixture("counting", place.counts), shop });
  await place.save("note", "return counting.act({ name: `${input.event.server} ${input.event.uri}` });");
  await using one = await place.open();
  const resource = { kind: "resource", server: "shop" } as const;
  await one.on("note", { on: { ...resource, uri: "file:///notes" } });
  await one.events.look();
  const touch = (uri: string) => one.app.pool.callTool("shop", "touch-resource", { uri });
  const subscriptions = async () => JSON.stringify(await one.app.pool.callTool("shop", "seen", {}));
  await eventually(async () => (await subscriptions()).includes("+file:///notes"));
  await touch("file:///other");
  for (let update = 0; update < 3; update++) await touch("file:///notes");
  await eventually(async () => {
    await one.events.look();
    return (await one.deliveries()).some(({ state }) => state === "done");
  });
  await settled(one);
  expect(place.calls).toEqual(["act shop file:///notes"]);
  await one.events.close();
  await eventually(async () => (await subscriptions()).includes("-file:///notes"));
});

test("the outcome of a program starts another one, with its value if it is kept", async () => {
  using place = new EventPlace();
  await place.save("nightly", 'if (input.name === "bad") throw new Error("it broke"); return { total: 7 };');
  await place.save(
    "report",
    "const { state, value } = input.event; return counting.act({ name: JSON.stringify({ state, value }) });",
  );
  await place.save("alert", "return counting.act({ name: `alert: ${input.event.error?.message}` });");
  await using one = await place.open();
  const after = { kind: "after", program: "nightly" } as const;
  await one.on("report", { on: after });
  await one.on("alert", { on: { ...after, when: ["failed"] } });
  const run = (...words: string[]) =>
    cli(["programs", "run", "nightly", "--no-daemon", ...words], { cwd: place.folder.path });
  expect((await run()).exitCode).toBe(0);
  expect((await run("name=bad")).exitCode).toBe(6);
  await eventually(async () => {
    await one.events.look();
    return (await one.deliveries()).filter(({ state }) => state === "done").length === 3;
  });
  // Outcomes of commands are not kept, so the value is unknown. Outcomes of events are kept.
  const trigger = await one.webhook("nightly");
  await one.offer(trigger, { name: "1", content: {} });
  await eventually(async () => {
    await one.events.look();
    return (await one.deliveries()).filter(({ state }) => state === "done").length === 5;
  });
  expect(place.calls.toSorted()).toEqual([
    "act alert: undefined",
    'act {"state":"done","value":{"total":7}}',
    'act {"state":"done"}',
    'act {"state":"failed"}',
  ]);
  const found = (await one.deliveries()).find(({ program, depth }) => program === "report" && depth === 2);
  expect(found).toMatchObject({ state: "done" });
});

test("a program that follows another one has read what that one had read", async () => {
  using place = new EventPlace();
  await place.save("nightly", 'return counting.read_wait({ name: "secret" });');
  await place.save("report", "return input.event.value;");
  await using one = await place.open();
  await one.on("report", { on: { kind: "after", program: "nightly" } });
  await one.offer(await one.webhook("nightly"), { name: "1", content: {} });
  const report = await eventually(async () => {
    await one.events.look();
    return (await one.deliveries()).find(({ program, state }) => program === "report" && state === "done");
  });
  const stored = await one.app.store.deliveries.get(report.id);
  expect(JSON.parse(stored!.labels)).toContainEqual({ label: "private", source: "counting.read_wait" });
  const labels = await one.app.store.labels.of({ holders: [executionHolder(report.execution!)] });
  expect(new Set(labels.map(({ label }) => label))).toEqual(new Set(["private", "untrusted"]));
});

test("programs that follow each other have no circle, and a bound", async () => {
  using place = new EventPlace();
  const names = ["one", "two", "three", "four", "five", "six"];
  for (const name of names) await place.save(name, `return counting.act({ name: "${name}" });`);
  await using at = await place.open();
  const follow = (program: string, after: string) => at.on(program, { on: { kind: "after", program: after } });
  for (const [index, name] of names.slice(1).entries()) await follow(name, names[index]!);
  expect(follow("one", "six")).rejects.toThrow('"one" would start itself');
  expect(follow("one", "one")).rejects.toThrow('"one" would start itself');
  expect(follow("one", "none")).rejects.toThrow('No saved program is called "none"');
  await at.offer(await at.webhook("one"), { name: "1", content: {} });
  await eventually(async () => {
    await at.events.look();
    // The run of "five" may end a moment after its outcome has come to "six".
    const all = await at.deliveries();
    return all.length === names.length && all.every(({ state }) => state === "dead" || state === "done");
  });
  const [dead, ...others] = await at.deliveries();
  expect(dead).toMatchObject({ program: "six", depth: 6, message: expect.stringContaining("more than 5 programs") });
  expect(others.map(({ program, state }) => `${program} ${state}`)).toEqual(
    ["five", "four", "three", "two", "one"].map((each) => `${each} done`),
  );
});
