/** The audit log: one chain, whoever writes. */
import { expect, test } from "bun:test";
import { sha256 } from "../../../src/base/sha256.ts";
import type { AuditLine, Decider } from "../../../src/store/audit/event.ts";
import { verify } from "../../../src/store/audit/verify.ts";
import type { Processes } from "../contract.ts";

const by: Decider = { place: "command", user: "ada", pid: 7, terminal: true };

export function auditContract(processes: Processes): void {
  const texts = async () => (await Array.fromAsync(processes.other.audit.lines())).map(({ line }) => line);
  const lines = async () => (await texts()).map((text) => JSON.parse(text) as AuditLine);

  test("has a line for each event, with its number and the hash of the line before it", async () => {
    const { one, other } = processes;
    await one.audit.add([{ decision: "approved", tool: "one" }], by, 1_000);
    await other.audit.add([{ decision: "denied" }, { decision: "expired" }], by, 2_000);
    const [first, second, third] = await texts();
    expect(await lines()).toEqual([
      { entry: 1, previous: "0".repeat(64), at: 1_000, decision: "approved", tool: "one", by },
      { entry: 2, previous: sha256(first!), at: 2_000, decision: "denied", by },
      { entry: 3, previous: sha256(second!), at: 2_000, decision: "expired", by },
    ]);
    expect(await one.audit.lastPlace()).toBe(3);
    expect(await Array.fromAsync(one.audit.lines("newest first"))).toEqual(
      [third, second, first].map((line, place) => ({ place: 3 - place, line: line!, sha256: sha256(line!) })),
    );
    expect(await verify(other.audit)).toEqual({ entries: 3, sha256: sha256(third!), notes: [] });
  });

  test("is one chain if several processes write at the same moment", async () => {
    const { one, other } = processes;
    const writers = Array.from({ length: 24 }, (_, call) => [call % 2 === 0 ? one : other, call] as const);
    await Promise.all(writers.map(([store, call]) => store.audit.add([{ decision: "approved", call }], by)));
    expect(await verify(one.audit)).toMatchObject({ entries: 24, notes: [] });
    expect((await verify(one.audit)).problem).toBeUndefined();
    const calls = (await lines()).map(({ call = -1 }) => call).sort((a, b) => a - b);
    expect(calls).toEqual(writers.map(([, call]) => call));
  });

  test("has nothing of no events, and a question whether it can be written adds no line", async () => {
    const { one } = processes;
    await one.audit.requireWritable();
    await one.audit.add([], by);
    expect([await one.audit.lastPlace(), await texts()]).toEqual([0, []]);
  });

  test("shortens long texts, and may be left before its last line", async () => {
    const { one } = processes;
    const events = Array.from({ length: 300 }, () => ({ decision: "approved" as const, tool: "x".repeat(10_000) }));
    await one.audit.add(events, by);
    for await (const { line } of one.audit.lines()) {
      expect(JSON.parse(line).tool).toHaveLength(501);
      break;
    }
    await one.audit.add([{ decision: "denied" }], by);
    expect(await verify(one.audit)).toMatchObject({ entries: 301 });
  });
}
