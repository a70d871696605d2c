/** The queue of events that start programs. */
import { expect, test } from "bun:test";
import type { NewDelivery } from "../../../src/store/deliveries.ts";
import type { Processes } from "../contract.ts";

/** More than any test adds. */
const many = 100;

function delivery(id: string, more: Partial<NewDelivery> = {}): NewDelivery {
  const about = { place: "here", triggerId: "t1", program: "triage", at: 10, depth: 1 };
  return { id, ...about, event: `event ${id}`, labels: "[]", payload: '{"a":"\\u0000"}', ...more };
}

export function deliveriesContract(processes: Processes): void {
  test("are added once for each event of a trigger, and every process sees them in their order", async () => {
    const { one, other } = processes;
    expect(await one.deliveries.due("here", "t1", 100, many)).toEqual([]);
    expect(await one.deliveries.add(delivery("b"), many)).toEqual({ result: "added", id: "b" });
    expect(await other.deliveries.add(delivery("a"), many)).toEqual({ result: "added", id: "a" });
    expect(await other.deliveries.add(delivery("c", { event: "event b" }), many)).toEqual({ result: "known", id: "b" });
    await one.deliveries.add(delivery("d", { event: "event b", triggerId: "t2" }), many);
    await one.deliveries.add(delivery("e", { place: "there" }), many);
    const due = await one.deliveries.due("here", "t1", 10, many);
    expect(due.map(({ id }) => id)).toEqual(["a", "b"]);
    expect(await one.deliveries.due("here", "t2", 10, many)).toHaveLength(1);
    expect(due[0]).toMatchObject({ state: "waiting", attempts: 0, execution: null, payload: '{"a":"\\u0000"}' });
    // A clock that was set back keeps no new one waiting.
    expect(await one.deliveries.due("here", "t1", 9, many)).toHaveLength(2);
    expect(await other.deliveries.known("here", "t1", ["event a", "event x"])).toEqual(["event a"]);
  });

  test("of one trigger are bounded until they have ended", async () => {
    const { deliveries } = processes.one;
    await deliveries.add(delivery("a"), 1);
    expect(await deliveries.add(delivery("b"), 1)).toEqual({ result: "full", id: "b" });
    expect(await deliveries.add(delivery("b", { triggerId: "t2" }), 1)).toMatchObject({ result: "added" });
    await deliveries.claim("a", 0, "x1", 20);
    await deliveries.end("a", "x1", { state: "done" }, 30);
    expect(await deliveries.add(delivery("c"), 1)).toMatchObject({ result: "added" });
  });

  test("are claimed by one process for each attempt, and their end is noted once", async () => {
    const { one, other } = processes;
    await one.deliveries.add(delivery("a"), many);
    const claims = [one, other, one, other].map(({ deliveries }, place) => deliveries.claim("a", 0, `x${place}`, 20));
    expect((await Promise.all(claims)).filter((each) => each)).toEqual([true]);
    const [running] = await other.deliveries.running("here");
    expect(running).toMatchObject({ id: "a", attempts: 1, state: "running", claimedAt: 20 });
    const execution = running!.execution!;
    expect(await other.deliveries.ofExecution(execution)).toMatchObject({ id: "a", depth: 1 });
    const failed = { state: "failed", message: "the server is down", nextAt: 50 } as const;
    expect(await other.deliveries.end("a", "another", failed, 30)).toBe(false);
    expect(await other.deliveries.end("a", execution, failed, 30)).toBe(true);
    expect(await one.deliveries.end("a", execution, { state: "done" }, 31)).toBe(false);
    expect(await one.deliveries.due("here", "t1", 49, many)).toEqual([]);
    expect(await one.deliveries.due("here", "t1", 50, many)).toHaveLength(1);
    // An attempt that was begun before is not begun again.
    expect(await one.deliveries.claim("a", 0, "x9", 60)).toBe(false);
    expect(await one.deliveries.claim("a", 1, "x9", 60)).toBe(true);
    expect(await one.deliveries.get("a")).toMatchObject({ attempts: 2, execution: "x9", endedAt: null });
  });

  test("that are dead come first in lists, and begin again if somebody says so", async () => {
    const { one, other } = processes;
    for (const id of ["a", "b", "c"]) await one.deliveries.add(delivery(id), many);
    await one.deliveries.add(delivery("d", { program: "other", dead: "too deep" }), many);
    await one.deliveries.claim("b", 0, "x1", 20);
    await one.deliveries.end("b", "x1", { state: "dead", message: "it failed" }, 30);
    const list = async (program?: string) => (await other.deliveries.list("here", many, program)).map(({ id }) => id);
    expect(await list()).toEqual(["d", "b", "c", "a"]);
    expect(await list("triage")).toEqual(["b", "c", "a"]);
    expect(await other.deliveries.list("here", 1)).toMatchObject([{ id: "d", message: "too deep", endedAt: 10 }]);
    expect(await other.deliveries.retry("b", 70)).toBe(true);
    expect(await one.deliveries.retry("b", 70)).toBe(false);
    expect(await one.deliveries.retry("a", 70)).toBe(false);
    expect((await one.deliveries.due("here", "t1", 70, many)).map(({ id }) => id)).toEqual(["a", "b", "c"]);
    expect((await one.deliveries.due("here", "t1", 70, 1)).map(({ id }) => id)).toEqual(["a"]);
  });

  test("are removed with their trigger before they begin, and otherwise some time after their end", async () => {
    const { deliveries } = processes.one;
    for (const id of ["a", "b", "c", "d"]) await deliveries.add(delivery(id), many);
    for (const id of ["a", "b", "c"]) await deliveries.claim(id, 0, id, 20);
    await deliveries.end("b", "b", { state: "done" }, 30);
    await deliveries.end("c", "c", { state: "dead" }, 30);
    expect(await deliveries.removeWaiting("here", "t1")).toBe(1);
    const left = async () => (await deliveries.list("here", many)).map(({ id }) => id);
    expect(await left()).toEqual(["c", "b", "a"]);
    await deliveries.tidy({ done: 31, dead: 30 });
    expect(await left()).toEqual(["c", "a"]);
    await deliveries.tidy({ done: 31, dead: 31 });
    expect(await left()).toEqual(["a"]);
  });
}
