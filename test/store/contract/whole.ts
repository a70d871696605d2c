/** What a store does as a whole: nothing for a question, owners, and telling others of changes. */
import { expect, test } from "bun:test";
import { eventually } from "../../support/eventually.ts";
import type { Processes } from "../contract.ts";

const count = { at: 1, period: null, json: "{}" };

export function wholeContract(processes: Processes): void {
  test("answers questions about nothing, and is not too new", async () => {
    const { one } = processes;
    const lists = [
      one.records.summaries(),
      one.counts.all(),
      one.people.list(),
      one.labels.of({ holders: ["file /a"] }),
    ];
    expect(await Promise.all(lists)).toEqual([[], [], [], []]);
    const { approvals, executions, audit } = one;
    expect(await Promise.all([approvals.list(), executions.list(), executions.waiting(), executions.old(1)])).toEqual([
      [],
      [],
      [],
      [],
    ]);
    expect([await approvals.isDue(1), await approvals.get("a"), await executions.get("a")]).toEqual([
      false,
      undefined,
      undefined,
    ]);
    expect([await audit.lastPlace(), await Array.fromAsync(audit.lines())]).toEqual([0, []]);
    expect(await one.isTooNew()).toBe(false);
  });

  test("can be written when it is asked, and exists from then on", async () => {
    await processes.one.checkWritable();
    expect([processes.one.exists, processes.other.exists]).toEqual([true, true]);
  });

  test("tells a listener of changes by other processes until nobody listens", async () => {
    const { one, other } = processes;
    await one.counts.add(count);
    let told = 0;
    const stop = one.onChange(() => {
      told += 1;
    });
    // What changed before the first look may have been missed.
    await eventually(() => told > 0);
    const before = told;
    await other.approvals.change(
      { type: "note", event: { decision: "denied" } },
      { user: "ada", pid: 1, terminal: false },
      1,
    );
    await eventually(() => told > before);
    stop();
    const last = told;
    await other.approvals.change(
      { type: "note", event: { decision: "denied" } },
      { user: "ada", pid: 1, terminal: false },
      1,
    );
    await Bun.sleep(600);
    expect(told).toBe(last);
  });

  test("has another stamp after a change by any process", async () => {
    const { one, other } = processes;
    const stamps: string[] = [];
    for (const each of [one, other, one]) {
      await each.counts.add(count);
      await eventually(async () => !stamps.includes(await one.stamp()));
      stamps.push(await one.stamp());
    }
  });

  test("knows which owners are alive, from every process", async () => {
    const { one, other } = processes;
    const [first, second] = [await one.takeOwner(), await one.takeOwner()];
    expect(first.name).not.toBe(second.name);
    expect([await one.isAlive(first.name), await other.isAlive(first.name)]).toEqual([true, true]);
    await first[Symbol.asyncDispose]();
    expect([await one.isAlive(first.name), await other.isAlive(first.name)]).toEqual([false, false]);
    expect([await other.isAlive(second.name), await other.isAlive(crypto.randomUUID())]).toEqual([true, false]);
    await second[Symbol.asyncDispose]();
  });

  test("can be used again after it was closed", async () => {
    const { one } = processes;
    await one.counts.add(count);
    await one[Symbol.asyncDispose]();
    await one.counts.add(count);
    expect(await one.counts.all()).toHaveLength(2);
  });
}
