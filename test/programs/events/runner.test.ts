/** Events start saved programs: each once, within limits, and through crashes. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { executionHolder } from "../../../src/store/labels.ts";
import { cli } from "../../cli/in-memory.ts";
import { eventually } from "../../support/eventually.ts";
import { EventPlace } from "./place.ts";

setDefaultTimeout(60_000);

const event = (name: string, body: unknown = {}) => ({ name, content: { kind: "webhook", body } as never });

test("a program gets each event once, and what it reads is untrusted", async () => {
  using place = new EventPlace();
  await place.save("triage", "await counting.act({ name: input.event.body.title }); return input.event.body;");
  await using one = await place.open();
  expect(one.events.isNeeded).toBe(false);
  const trigger = await one.webhook("triage");
  expect(one.events.isNeeded).toBe(true);
  const first = await one.offer(trigger, event("a", { title: "A" }));
  expect(first.result).toBe("added");
  expect(await one.offer(trigger, event("a", { title: "A again" }))).toEqual({ result: "known", id: first.id });
  const [delivery] = await one.ended();
  expect(delivery).toMatchObject({ id: first.id, state: "done", attempts: 1, program: "triage" });
  expect(place.calls).toEqual(["act A"]);
  const executions = await one.app.executions();
  const { execution } = delivery!;
  expect(await executions.stored.outcomeOf(execution!, one.app)).toMatchObject({ ok: true, value: { title: "A" } });
  const labels = await one.app.store.labels.of({ holders: [executionHolder(execution!)] });
  expect(labels).toContainEqual({ label: "untrusted", source: "programs.triage" });
  expect(await one.offer(trigger, event("a"))).toMatchObject({ result: "known" });
});

test("a filter leaves events out, and a map makes input of them", async () => {
  using place = new EventPlace();
  await place.save(
    "greet",
    "return counting.act({ name: input.name });",
    '{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}',
  );
  await using one = await place.open();
  expect(one.webhook("greet")).rejects.toThrow("greet needs the input name");
  expect(one.webhook("greet", { filter: "event.body.", input: { name: "x" } })).rejects.toThrow("The filter");
  expect(one.webhook("greet", { filter: "event.kind + 'x'", input: { name: "x" } })).rejects.toThrow("true or false");
  expect(one.webhook("greet", { map: { nam: "event.kind" }, input: { name: "x" } })).rejects.toThrow("no input nam");
  const filter = 'event.body.action == "opened"';
  const trigger = await one.webhook("greet", { filter, map: { name: 'event.body.user + "!"' } });
  for (const body of [{ action: "closed", user: "a" }, {}, "text", null]) {
    expect(await one.offer(trigger, event(JSON.stringify(body), body))).toMatchObject({ result: "ignored" });
  }
  await one.offer(trigger, event("b", { action: "opened", user: "b" }));
  await one.offer(trigger, event("c", { action: "opened" }));
  expect((await one.ended()).map(({ state, message }) => [state, message])).toEqual([
    ["dead", expect.stringContaining("name: event.body.user")],
    ["done", null],
  ]);
  expect(place.calls).toEqual(["act b!"]);
});

test("a program that fails is begun again only if it has changed nothing, and then it is dead until its user says otherwise", async () => {
  using place = new EventPlace();
  await place.save("reads", 'await counting.read({ name: "r" }); throw new Error("no luck");');
  await place.save("acts", 'await counting.act({ name: "a" }); throw new Error("no luck");');
  await using one = await place.open();
  await one.offer(await one.webhook("reads"), event("1"));
  await one.offer(await one.webhook("acts"), event("1"));
  const states = async () => (await one.ended()).map(({ program, state, attempts }) => [program, state, attempts]);
  expect(await states()).toEqual([
    ["acts", "dead", 1],
    ["reads", "failed", 1],
  ]);
  for (const ms of [10_000, 60_000, 300_000, 1_800_000, 7_200_000]) {
    expect((await states())[1]?.[1]).toBe("failed");
    place.aheadMs += ms;
  }
  expect(await states()).toEqual([
    ["acts", "dead", 1],
    ["reads", "dead", 6],
  ]);
  expect(place.calls.toSorted()).toEqual(["act a", ...Array.from({ length: 6 }, () => "read r")]);
  const [, dead] = await one.deliveries();
  expect(await one.app.store.deliveries.retry(dead!.id, Date.now() + place.aheadMs)).toBe(true);
  expect((await states())[1]).toEqual(["reads", "dead", 7]);
});

test("a limit holds for each minute, and what is beyond waits", async () => {
  using place = new EventPlace();
  await place.save("count", 'return counting.act({ name: "x" });');
  await using one = await place.open();
  await using other = await place.open();
  const trigger = await one.webhook("count", { perMinute: 3 });
  place.aheadMs = 60_000 - (Date.now() % 60_000) + 1_000;
  for (let number = 0; number < 8; number++) await one.offer(trigger, event(String(number)));
  const isDone = async (count: number) => {
    await Promise.all([one.events.look(), other.events.look()]);
    return (await one.deliveries()).filter(({ state }) => state === "done").length === count;
  };
  await eventually(() => isDone(3));
  for (let look = 0; look < 5; look++) expect(await isDone(3)).toBe(true);
  place.aheadMs += 60_000;
  await eventually(() => isDone(6));
  place.aheadMs += 60_000;
  await eventually(() => isDone(8));
  expect(place.calls).toHaveLength(8);
});

test("a process that ends leaves its deliveries to the next one, and no call is made twice", async () => {
  using place = new EventPlace();
  const until = join(place.folder.path, "until");
  await place.save(
    "slow",
    `await counting.read({ name: "r" }); return counting.wait({ name: "w", until: ${JSON.stringify(until)} });`,
  );
  {
    await using one = await place.open();
    await one.offer(await one.webhook("slow"), event("1"));
    await one.events.look();
    await eventually(() => place.calls.length === 2);
  }
  place.aheadMs = 10_000;
  place.folder.write("until", "");
  await using two = await place.open();
  const [delivery] = await two.ended();
  // The call was sent when the first process ended, so its effect is unknown.
  expect(delivery).toMatchObject({ state: "dead", attempts: 1, message: expect.stringContaining("nobody knows") });
  expect(place.calls).toEqual(["read r", "wait w"]);
});

test("a delivery that was claimed by a process that died before it began is begun once", async () => {
  using place = new EventPlace();
  await place.save("count", 'return counting.act({ name: "x" });');
  await using one = await place.open();
  await using two = await place.open();
  const { id } = await one.offer(await one.webhook("count"), event("1"));
  const old = await one.offer(await one.webhook("count", { id: "old" }), event("1"));
  const { newId } = await import("../../../src/programs/trace/id.ts");
  const { deliveries } = one.app.store;
  expect(await deliveries.claim(id, 0, newId(Date.now()), Date.now())).toBe(true);
  expect(await deliveries.claim(old.id, 0, newId(Date.now()), Date.now() - 7_200_000)).toBe(true);
  place.aheadMs = 10_000;
  await Promise.all([one.events.look(), two.events.look()]);
  await Promise.all([one.ended(), two.ended()]);
  expect(await one.deliveries()).toMatchObject([
    { id: old.id, state: "dead", message: expect.stringContaining("nobody knows") },
    { id, state: "done", attempts: 1 },
  ]);
  expect(place.calls).toEqual(["act x"]);
});

test("a program that calls another one is held once an agent has replaced that one", async () => {
  using place = new EventPlace();
  await place.save("inner", 'return counting.act({ name: "inner" });');
  await place.save("outer", "return programs.inner({});");
  await using one = await place.open();
  const trigger = await one.webhook("outer");
  await one.offer(trigger, event("1"));
  expect(await one.ended()).toMatchObject([{ state: "done" }]);
  await place.save("inner", 'return counting.act({ name: "replaced" });');
  await one.offer(trigger, event("2"));
  const [held] = await one.ended();
  expect(held).toMatchObject({ state: "dead", message: expect.stringContaining('The saved program "outer" is held') });
  expect(place.calls).toEqual(["act inner"]);
});

test("a program whose only call never left its process is begun again", async () => {
  using place = new EventPlace();
  await place.save("offline", "return gone.act({});");
  await using one = await place.open();
  await one.offer(await one.webhook("offline"), event("1"));
  expect(await one.ended()).toMatchObject([{ state: "failed", attempts: 1 }]);
});

test("an agent cannot replace a program that events start, and removing a program ends its triggers", async () => {
  using place = new EventPlace();
  await using one = await place.open();
  const executions = await one.app.executions();
  const byAgent = async (source: string) => (await executions.start({ source, isForAgent: true }, one.app).outcome).ok;
  expect(await byAgent("return 1")).toBe(true);
  expect(await byAgent('return programs.save({ name: "own" })')).toBe(true);
  expect(await byAgent("return 2")).toBe(true);
  const trigger = await one.webhook("own");
  const outcome = await executions.start({ source: 'return programs.save({ name: "own" })', isForAgent: true }, one.app)
    .outcome;
  expect(outcome).toMatchObject({
    ok: false,
    error: { code: "POLICY_DENIED", message: expect.stringContaining('"own" is started by events') },
  });
  // It waits for its time, which comes only after the program was removed.
  await one.offer(trigger, event("1"));
  const removed = await cli(["programs", "remove", "own"], { cwd: place.folder.path });
  expect(removed.exitCode).toBe(0);
  expect(await one.deliveries()).toEqual([]);
  expect(one.events.isNeeded).toBe(false);
});
