/** The call log. */
import { expect, test } from "bun:test";
import { eachCall, maxCallsReadAtOnce, type StoredCall } from "../../../src/store/call-log.ts";
import type { Processes } from "../contract.ts";

const day = 86_400_000;

export function storedCall(id: string, at: number, more: Partial<StoredCall> = {}): StoredCall {
  return {
    id,
    at,
    config: "/a.json",
    door: null,
    person: null,
    personName: null,
    token: null,
    agent: null,
    startedBy: "serve",
    execution: null,
    call: null,
    program: null,
    server: "crm",
    tool: "get",
    outcome: "ok",
    code: null,
    durationMs: 1.5,
    waitedMs: 0,
    argumentBytes: 12,
    resultBytes: 5_000_000_000,
    sent: 1,
    approval: null,
    approvalId: null,
    labels: null,
    ...more,
  };
}

export function callLogContract(processes: Processes): void {
  const newest = async (filter = {}, limit = 100) =>
    (await processes.other.callLog.read(filter, { order: "newest first", limit })).map(({ id }) => id);

  test("are kept if a text has a character that a database cannot store: all of a write", async () => {
    await processes.one.callLog.add([storedCall("a", 1), storedCall("b", 2, { agent: "half \ud83d\0" })]);
    expect(await newest()).toEqual(["b", "a"]);
  });

  test("come back whole, in either order", async () => {
    const whole = storedCall("b", 1_000.5, {
      door: "ops",
      person: "p1",
      personName: "Ada \0 \ud83d\ude00",
      token: "t1",
      agent: "an agent 1.0",
      execution: "e1",
      call: 3,
      program: "report",
      outcome: "denied",
      code: "POLICY_DENIED",
      approval: "denied",
      approvalId: "a1",
      labels: "private untrusted",
    });
    const bare = storedCall("a", 1_000.5, { config: null });
    await processes.one.callLog.add([whole, bare]);
    await processes.other.callLog.add([]);
    const read = (order: "newest first" | "oldest first") => processes.other.callLog.read({}, { order, limit: 5 });
    const [first, second] = await read("newest first");
    expect([{ ...first, personName: "" }, second]).toEqual([{ ...whole, personName: "" }, bare]);
    expect(first?.personName?.startsWith("Ada ")).toBe(true);
    expect((await read("oldest first")).map(({ id }) => id)).toEqual(["a", "b"]);
  });

  test("are found by who made them, what was called, when and how it ended", async () => {
    const { one } = processes;
    await one.callLog.add([
      storedCall("a", 1, { person: "p1", personName: "Ada" }),
      storedCall("b", 2, { token: "t1", door: "ops", outcome: "failed" }),
      storedCall("c", 3, { server: "mail", tool: "send", execution: "e1" }),
      storedCall("d", 4, { config: "/b.json", person: "p1", outcome: "cancelled" }),
    ]);
    expect(await newest({ who: ["p1"] })).toEqual(["d", "a"]);
    expect(await newest({ who: ["Ada", "t1"] })).toEqual(["b", "a"]);
    expect(await newest({ who: [] })).toEqual([]);
    expect(await newest({ server: "mail", tool: "mail.send" })).toEqual(["c"]);
    expect(await newest({ door: "ops" })).toEqual(["b"]);
    expect(await newest({ execution: "e1" })).toEqual(["c"]);
    expect(await newest({ outcomes: ["cancelled", "denied"] })).toEqual(["d"]);
    expect(await newest({ outcomes: ["failed", "cancelled"], who: ["t1"] })).toEqual(["b"]);
    expect(await newest({ outcomes: undefined })).toHaveLength(4);
    expect(await newest({ outcomes: [] })).toEqual([]);
    expect(await newest({ config: "/a.json", since: 2, until: 3 })).toEqual(["b"]);
    expect(await newest({}, 2)).toEqual(["d", "c"]);
  });

  test("are read in pages, none of them twice, also if many were made at the same time", async () => {
    const { one, other } = processes;
    const ids = Array.from({ length: maxCallsReadAtOnce + 5 }, (_, place) => `c${String(place).padStart(5, "0")}`);
    await one.callLog.add(ids.map((id, place) => storedCall(id, Math.floor(place / 700))));
    for (const order of ["oldest first", "newest first"] as const) {
      const read = await Array.fromAsync(eachCall(other.callLog, {}, order), ({ id }) => id);
      expect(read).toEqual(order === "oldest first" ? ids : ids.toReversed());
    }
  });

  test("of several days that several processes add at the same moment are all there", async () => {
    const { one, other } = processes;
    const days = Array.from({ length: 30 }, (_, place) => place);
    await Promise.all(
      days.map((at) => (at % 2 === 0 ? one : other).callLog.add([storedCall(String(at), (at % 4) * day + at)])),
    );
    expect((await newest()).length).toBe(30);
  });

  test("that are too old are removed, but not those of another config", async () => {
    const { one } = processes;
    await one.callLog.add([
      storedCall("a", 0.5 * day),
      storedCall("b", 1.5 * day),
      storedCall("c", 1.5 * day, { config: "/b.json" }),
      storedCall("d", 2.5 * day),
      storedCall("e", 0.5 * day, { config: null }),
    ]);
    await one.callLog.tidy("/a.json", 2 * day);
    expect((await newest()).sort()).toEqual(["c", "d", "e"]);
    await one.callLog.tidy("/b.json", 2 * day);
    await one.callLog.tidy(null, 2 * day);
    expect(await newest()).toEqual(["d"]);
    // The days can be written again.
    await one.callLog.add([storedCall("f", 0.5 * day)]);
    expect(await newest()).toEqual(["d", "f"]);
  });

  test("of a person are removed from one config", async () => {
    const { one } = processes;
    await one.callLog.add([
      storedCall("a", 1, { person: "p1" }),
      storedCall("b", 2 * day, { person: "p1" }),
      storedCall("c", 3, { person: "p1", config: "/b.json" }),
      storedCall("d", 4, { person: "p2" }),
      storedCall("e", 5),
    ]);
    expect(await one.callLog.removePerson("/a.json", "p1")).toBe(2);
    expect(await newest()).toEqual(["e", "d", "c"]);
  });
}
