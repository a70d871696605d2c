/** What fails around a delivery, and not in its program: the database, another process, and clocks that are set. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { ClaudikinsError } from "../../../src/base/errors.ts";
import { silentLog } from "../../../src/base/log.ts";
import { hourMs } from "../../../src/base/units.ts";
import type { OfferedEvent } from "../../../src/programs/events/event-queue.ts";
import { ListChanges, type ListTrigger } from "../../../src/programs/events/list-changes.ts";
import { ResourceUpdates } from "../../../src/programs/events/resource-updates.ts";
import type { Triggers } from "../../../src/programs/events/stored-triggers.ts";
import type { RunningExecution } from "../../../src/programs/execution/running-execution.ts";
import { newId } from "../../../src/programs/trace/id.ts";
import { eventually } from "../../support/eventually.ts";
import { EventPlace } from "./place.ts";

setDefaultTimeout(60_000);

const event = (name: string) => ({ name, content: { kind: "webhook" } });

test("a delivery whose program was given up here does not end with that", async () => {
  using place = new EventPlace();
  const until = join(place.folder.path, "until");
  await place.save("slow", `return counting.wait({ name: "w", until: ${JSON.stringify(until)} });`);
  await place.save("alarm", 'return counting.act({ name: "alarm" });');
  await using one = await place.open();
  await one.on("alarm", { on: { kind: "after", program: "slow", when: ["failed"] } });
  const { id } = await one.offer(await one.webhook("slow"), event("1"));
  await one.events.look();
  await eventually(() => place.calls.length === 1);
  const { execution } = (await one.app.store.deliveries.get(id))!;
  // As when another replica has taken it, because this process stood still for long.
  const executions = await one.app.executions();
  const running = (await executions.follow(execution!, one.app)) as RunningExecution;
  running.stop();
  expect(await running.outcome).toMatchObject({ ok: false, reason: "cancelled" });
  await one.events.look();
  expect(await one.deliveries()).toMatchObject([{ id, state: "running", attempts: 1 }]);
  place.aheadMs = 10_000;
  const all = await eventually(async () => {
    const ended = await one.ended();
    return ended.length === 2 ? ended : undefined;
  });
  expect(all).toMatchObject([
    { id, state: "dead", message: expect.stringContaining("nobody knows") },
    { program: "alarm", event: execution!, state: "done" },
  ]);
  expect(place.calls).toEqual(["wait w", "act alarm"]);
});

test("a program that was continued elsewhere is begun again only if no call has changed anything", async () => {
  using place = new EventPlace();
  const until = join(place.folder.path, "until");
  const given = JSON.stringify({ name: "w", until });
  await place.save("reads", `await counting.read_wait(${given}); throw new Error("no luck");`);
  await place.save("acts", `try { await counting.wait(${given}); } catch {} throw new Error("no luck");`);
  await using one = await place.open();
  for (const program of ["reads", "acts"]) await one.offer(await one.webhook(program), event("1"));
  await one.events.look();
  await eventually(() => place.calls.length === 2);
  const executions = await one.app.executions();
  for (const { execution } of await one.deliveries()) {
    const running = (await executions.follow(execution!, one.app)) as RunningExecution;
    running.stop();
    await running.outcome;
  }
  place.folder.write("until", "");
  place.aheadMs = 10_000;
  await one.events.look();
  expect((await one.ended()).map(({ program, state, message }) => [program, state, message])).toEqual([
    ["acts", "dead", "no luck"],
    ["reads", "failed", "no luck"],
  ]);
  expect(place.calls.toSorted()).toEqual(["read_wait w", "read_wait w", "wait w"]);
});

test("a database that is away while a program begins does not end the attempt", async () => {
  using place = new EventPlace();
  await place.save("count", 'return counting.act({ name: "x" });');
  await using one = await place.open();
  const { id } = await one.offer(await one.webhook("count"), event("1"));
  const usual = one.app.executions;
  one.app.executions = () => Promise.reject(new ClaudikinsError("DATABASE_UNAVAILABLE", "it is away"));
  await one.events.look();
  await Bun.sleep(50); // Nothing announces that it does not end.
  expect(await one.deliveries()).toMatchObject([{ id, state: "running", attempts: 1 }]);
  one.app.executions = usual;
  place.aheadMs = 10_000;
  expect(await one.ended()).toMatchObject([{ id, state: "done", attempts: 1 }]);
  expect(place.calls).toEqual(["act x"]);
});

test("a program that cannot be continued is not begun again, because its calls are not known", async () => {
  using place = new EventPlace();
  await place.save("count", 'return counting.act({ name: "x" });');
  await using one = await place.open();
  const { id } = await one.offer(await one.webhook("count"), event("1"));
  const executions = await one.app.executions();
  executions.follow = () => Promise.reject(new ClaudikinsError("EXECUTION_LOST", "it was not saved"));
  await one.events.look();
  expect(await one.ended()).toMatchObject([{ id, state: "dead", attempts: 1, message: "it was not saved" }]);
  expect(place.calls).toEqual([]);
});

test("a clock that was set back keeps no delivery waiting", async () => {
  using place = new EventPlace();
  await place.save("count", "return counting.act({ name: input.event.name });");
  await using one = await place.open();
  const trigger = await one.webhook("count");
  place.aheadMs = -hourMs;
  await one.offer(trigger, { name: "new", content: { name: "new" } });
  const { id } = await one.offer(trigger, { name: "claimed", content: { name: "claimed" } });
  expect(await one.app.store.deliveries.claim(id, 0, newId(Date.now()), Date.now())).toBe(true);
  expect(await one.ended()).toMatchObject([
    { id, state: "done", attempts: 1 },
    { event: "new", state: "done" },
  ]);
  expect(place.calls.toSorted()).toEqual(["act claimed", "act new"]);
});

test("a process with another clock waits for the execution that another one is about to store", async () => {
  using place = new EventPlace();
  await place.save("count", 'return counting.act({ name: "x" });');
  await using late = await place.open({ now: () => Date.now() - 2 * hourMs });
  await using one = await place.open();
  const { id } = await one.offer(await one.webhook("count"), event("1"));
  const missed = Promise.withResolvers<void>();
  const usual = late.app.executions.bind(late.app);
  late.app.executions = async () => {
    await missed.promise;
    return usual();
  };
  const executions = await one.app.executions();
  const follow = executions.follow.bind(executions);
  executions.follow = (...which) => follow(...which).finally(missed.resolve);
  await late.events.look();
  expect(await one.ended()).toMatchObject([{ id, state: "done", attempts: 1 }]);
  expect(place.calls).toEqual(["act x"]);
});

test("an update that could not be put into the queue is put into it later", async () => {
  const updates = new ResourceUpdates(silentLog);
  const trigger = { id: "note", on: { kind: "resource", server: "shop", uri: "file:///a" } } as never;
  let announce: (uri: string) => void = () => {};
  const pool = {
    subscribe: async (_server: string, _uri: string, listener: (uri: string) => void) => {
      announce = listener;
      return () => {};
    },
  };
  await updates.look(trigger, pool, async () => true);
  announce("file:///a");
  expect(updates.look(trigger, pool, () => Promise.reject(new Error("the disk is full")))).rejects.toThrow("disk");
  const put: OfferedEvent[] = [];
  for (let look = 0; look < 2; look++) {
    await updates.look(trigger, pool, async (event) => {
      put.push(event);
      return true;
    });
  }
  expect(put).toMatchObject([{ content: { uri: "file:///a" } }]);
  updates.close();
});

test("a list that changes again before a change was noted is another event", async () => {
  let noted = new Map<string, string>([["", "0"]]);
  let tools = ["a"];
  const triggers = {
    seenFiles: () => noted,
    noteFiles: async (_: string, files: Map<string, string>) => {
      noted = files;
    },
  };
  const pool = {
    onListChanged: () => () => {},
    keepConnected: () => () => {},
    refuseRequest: () => {},
    listTools: async () => tools.map((name) => ({ name })),
  };
  const trigger = { id: "note", on: { kind: "list", server: "shop", list: "tools" } } as ListTrigger;
  const put: OfferedEvent[] = [];
  const look = async (keeps: boolean) => {
    const changes = new ListChanges(triggers as unknown as Triggers, silentLog);
    const kept = async (event: OfferedEvent) => {
      put.push(event);
      return keeps;
    };
    const count = put.length;
    await eventually(async () => {
      await changes.look(trigger, pool as never, kept);
      return put.length > count;
    });
    changes.close();
  };
  // The process ends before it has noted the change.
  await look(false);
  await look(false);
  tools = ["a", "b"];
  await look(true);
  expect(put[0]!.name).toBe(put[1]!.name);
  expect(put[2]!.name).not.toBe(put[0]!.name);
  expect(put[2]).toMatchObject({ content: { added: ["a", "b"] } });
});
