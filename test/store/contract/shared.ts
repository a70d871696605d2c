/** What the processes of a `serve --http` know together: people, labels and quotas. */
import { expect, test } from "bun:test";
import { executionHolder } from "../../../src/store/labels.ts";
import type { SignOut, StoredPerson } from "../../../src/store/people.ts";
import type { Processes } from "../contract.ts";

function person(id: string, more: Partial<StoredPerson> = {}): StoredPerson {
  const about = { config: "/a.json", issuer: "https://id.example", subject: id, name: id, email: null, doors: ["qa"] };
  return { ...about, id, firstAt: 1, lastAt: 10, revokedAt: null, ...more };
}

export function peopleContract(processes: Processes): void {
  test("are listed in the order in which they came, of one config or of all", async () => {
    const { one, other } = processes;
    await one.people.seen(person("b", { lastAt: 20 }));
    await one.people.seen(person("a", { lastAt: 10, email: "a@example.com" }));
    await one.people.seen(person("c", { config: "/b.json", lastAt: 15 }));
    expect(await other.people.list("/a.json")).toEqual([
      person("a", { firstAt: 10, email: "a@example.com" }),
      person("b", { firstAt: 20, lastAt: 20 }),
    ]);
    expect((await other.people.list()).map(({ id }) => id)).toEqual(["a", "c", "b"]);
  });

  test("that come again have a new name and another door, and are as revoked as before", async () => {
    const { one, other } = processes;
    await one.people.seen(person("a"));
    await one.people.setRevoked([person("a")], 12);
    await other.people.seen(person("a", { name: "Ann", doors: ["ops", "qa"], lastAt: 30 }));
    expect(await one.people.list()).toEqual([
      person("a", { name: "Ann", doors: ["ops", "qa"], firstAt: 10, lastAt: 30, revokedAt: 12 }),
    ]);
  });

  test("are revoked and restored once, and every process knows", async () => {
    const { one, other } = processes;
    const [ann, bob] = [person("a"), person("b")];
    for (const each of [ann, bob, person("a", { config: "/b.json" })]) await one.people.seen(each);
    expect(await one.people.setRevoked([ann, person("unknown")], 5)).toEqual([ann]);
    expect(await other.people.setRevoked([ann, bob], 6)).toEqual([bob]);
    expect(await other.people.revoked("/a.json")).toEqual(new Set(["a", "b"]));
    expect(await other.people.revoked("/b.json")).toEqual(new Set());
    expect(await other.people.setRevoked([ann, bob], null)).toEqual([ann, bob]);
    expect(await one.people.setRevoked([ann], null)).toEqual([]);
    expect(await one.people.revoked("/a.json")).toEqual(new Set());
  });

  test("have the groups of the token that was issued last, whichever comes last, and every process knows", async () => {
    const { one, other } = processes;
    const [ann, bob] = [person("a"), person("b")];
    const newest = async (of = ann) => (await other.people.standing(of)).newest;
    const keep = (groups: string[], issuedAt: number, of = ann) => one.people.keepNewest(of, { issuedAt, groups }, 0);
    expect(await other.people.standing(ann)).toEqual({ isRevoked: false, newest: undefined, signOuts: [] });
    await keep(["qa", "\0\ud800 'x'"], 10.5);
    expect(await newest()).toEqual({ issuedAt: 10.5, groups: ["qa", "\0\ud800 'x'"] });
    await keep(["qa", "it"], 9);
    await keep([], 10.5);
    expect((await newest())?.groups).toEqual(["qa", "\0\ud800 'x'"]);
    // Tokens of the same time count together.
    await keep(["qa"], 20);
    await keep(["it"], 20);
    expect(await newest()).toEqual({ issuedAt: 20, groups: ["qa", "it"] });
    await keep([], 21);
    expect(await newest()).toEqual({ issuedAt: 21, groups: [] });
    expect([await newest(bob), await newest(person("a", { config: "/b.json" }))]).toEqual([undefined, undefined]);
    await Promise.all(Array.from({ length: 10 }, (_, at) => keep([String(at)], 30 + at, bob)));
    expect(await newest(bob)).toEqual({ issuedAt: 39, groups: ["9"] });
    // Groups that are too old are forgotten.
    await one.people.keepNewest(bob, { issuedAt: 50, groups: ["qa"] }, 40);
    expect([await newest(ann), await newest(bob)]).toEqual([undefined, { issuedAt: 50, groups: ["qa"] }]);
  });

  test("are known to be revoked, with the groups of the newest token, until they are forgotten", async () => {
    const { one, other } = processes;
    await one.people.seen(person("a"));
    await one.people.keepNewest(person("a"), { issuedAt: 5, groups: ["qa"] }, 0);
    await one.people.setRevoked([person("a")], 12);
    expect(await other.people.standing(person("a"))).toEqual({
      isRevoked: true,
      newest: { issuedAt: 5, groups: ["qa"] },
      signOuts: [],
    });
    await one.people.forget(person("a"));
    expect(await other.people.standing(person("a"))).toEqual({ isRevoked: true, newest: undefined, signOuts: [] });
  });

  test("have signed out at the provider, of one session or of all, until that is old", async () => {
    const { one, other } = processes;
    const [ann, bob] = [person("a"), person("b")];
    const signOut = (session: string, at: number, now: number, of = ann) =>
      one.people.signOut(of, { session, at }, { now, before: 0 });
    await signOut("s1", 10, 100);
    await signOut("", 20, 110);
    // An older one changes nothing, however late it comes.
    await signOut("", 15, 120);
    await signOut("", 5, 130, bob);
    const bySession = (rows: SignOut[]) => rows.sort((x, y) => (x.session < y.session ? -1 : 1));
    expect(bySession((await other.people.standing(ann)).signOuts)).toEqual([
      { session: "", at: 20 },
      { session: "s1", at: 10 },
    ]);
    expect(await other.people.signOutsSince("/a.json", 110)).toEqual([
      { id: "a", session: "", at: 20 },
      { id: "b", session: "", at: 5 },
    ]);
    expect(await other.people.signOutsSince("/b.json", 0)).toEqual([]);
    await one.people.signOut(bob, { session: "", at: 6 }, { now: 200, before: 115 });
    expect((await other.people.standing(ann)).signOuts).toEqual([]);
    await one.people.forget(bob);
    expect((await other.people.standing(bob)).signOuts).toEqual([]);
  });

  test("that are forgotten have no row, and if they were revoked, one that says nothing else", async () => {
    const { one, other } = processes;
    for (const each of [person("a", { email: "a@example.com" }), person("b"), person("a", { config: "/b.json" })]) {
      await one.people.seen(each);
    }
    await one.people.setRevoked([person("a")], 12);
    for (const id of ["a", "b", "unknown"]) await one.people.forget({ config: "/a.json", id });
    const nothing = { issuer: "", subject: "", name: "a", email: null, doors: [] };
    expect(await other.people.list("/a.json")).toEqual([
      person("a", { ...nothing, firstAt: 12, lastAt: 12, revokedAt: 12 }),
    ]);
    expect(await other.people.list("/b.json")).toHaveLength(1);
    expect(await other.people.revoked("/a.json")).toEqual(new Set(["a"]));
    await one.people.setRevoked([person("a")], null);
    await one.people.seen(person("a", { lastAt: 30 }));
    expect(await other.people.list("/a.json")).toEqual([person("a", { firstAt: 12, lastAt: 30 })]);
  });
}

export function labelsContract(processes: Processes): void {
  const secret = { label: "private", source: "crm.get" };
  const stranger = { label: "untrusted", source: "web.get" };
  const add = (holders: string[], labels = [secret], at = 1) =>
    processes.one.labels.change({ add: { holders, labels, at } });
  const of = (holders: string[], prefix?: string) =>
    processes.other.labels.of({ holders, ...(prefix === undefined ? {} : { prefix }) });

  test("are those of the holders, and of everything below a prefix", async () => {
    await add(["file /a", "file /a/b"], [secret, stranger]);
    await add(["file /a/é%_"], [{ label: "private", source: "below" }]);
    await add(["file /ab"], [{ label: "private", source: "beside" }]);
    const sources = async (...wanted: Parameters<typeof of>) =>
      new Set((await of(...wanted)).map(({ source }) => source));
    expect(await sources(["file /a"])).toEqual(new Set(["crm.get", "web.get"]));
    expect(await sources(["file /ab", "file /nothing"])).toEqual(new Set(["beside"]));
    expect(await sources([], "file /a/")).toEqual(new Set(["crm.get", "web.get", "below"]));
    expect(await sources(["file /ab"], "file /a/é%")).toEqual(new Set(["beside", "below"]));
    const { labels } = processes.other;
    expect([
      await labels.hasBelow("file "),
      await labels.hasBelow("client "),
      await labels.hasBelow("file /_"),
    ]).toEqual([true, false, false]);
  });

  test("that a holder has already are not doubled", async () => {
    await add(["file /a"]);
    await add(["file /a"], [secret, stranger], 2);
    expect(await of(["file /a"])).toHaveLength(2);
  });

  test("are replaced and pruned in one change: removed first, and then added", async () => {
    const { one } = processes;
    await add(["client old", "client new", "file /a"]);
    await add(["client new"], [secret], 20);
    const prune = { prefix: "client ", before: 10 };
    await one.labels.change({
      remove: ["file /a"],
      prune,
      add: { holders: ["file /a", "client late"], labels: [stranger], at: 5 },
    });
    expect(await of(["file /a"])).toEqual([stranger]);
    expect(await of(["client old"])).toEqual([]);
    expect(await of(["client new"])).toEqual([secret]);
    expect(await of(["client late"])).toEqual([stranger]);
  });

  test("of an execution are removed with it", async () => {
    const { one, other } = processes;
    await add([executionHolder("e1"), executionHolder("e2")]);
    await using owner = await one.takeOwner();
    const writer = one.executions.writer();
    const about = { config: null, startedAt: 1, request: "{}", isWanted: true, owner: owner.name, roomBytes: 1e9 };
    for (const id of ["e1", "e2"]) await writer.do("add", id, about);
    await writer.do("remove", "e1", {});
    await writer.close();
    expect(await other.labels.of({ holders: [executionHolder("e1")] })).toEqual([]);
    expect(await other.labels.of({ holders: [executionHolder("e2")] })).toEqual([secret]);
  });
}

export function quotasContract(processes: Processes): void {
  const minute = { from: 60_000, to: 120_000 };
  const calls = { key: "a calls", ...minute, amount: 1, limit: 2 };
  const bytes = { key: "a bytes", from: 0, to: 86_400_000, amount: 0, limit: 100 };

  test("count until one of them is used up, and then nothing", async () => {
    const { one, other } = processes;
    const both = [bytes, calls];
    expect([await one.quotas.take(both), await other.quotas.take(both)]).toEqual([undefined, undefined]);
    expect(await one.quotas.take(both)).toBe(calls);
    // The other calls were not counted either.
    const wide = { ...calls, key: "b calls" };
    expect(await other.quotas.take([wide, calls])).toBe(calls);
    expect([await one.quotas.take([wide]), await one.quotas.take([wide])]).toEqual([undefined, undefined]);
    expect(await one.quotas.take([wide])).toBe(wide);
  });

  test("with the amount 0 are only looked at, and count what is added later", async () => {
    const { one, other } = processes;
    expect(await one.quotas.take([bytes])).toBeUndefined();
    await one.quotas.add([{ ...bytes, amount: 60 }]);
    expect(await other.quotas.take([bytes])).toBeUndefined();
    await other.quotas.add([{ ...bytes, amount: 60 }]);
    expect(await one.quotas.take([calls, bytes])).toBe(bytes);
  });

  test("are read without being counted", async () => {
    const { one, other } = processes;
    await one.quotas.take([calls, bytes]);
    await one.quotas.add([{ ...bytes, amount: 60 }]);
    const next = { ...calls, from: 120_000 };
    const unknown = { ...calls, key: "b calls" };
    const read = () => other.quotas.read([bytes, next, calls, unknown]);
    expect([await read(), await read(), await other.quotas.read([])]).toEqual([[60, 0, 1, 0], [60, 0, 1, 0], []]);
  });

  test("begin anew with each time span", async () => {
    const { one } = processes;
    const once = { ...calls, limit: 1 };
    expect([await one.quotas.take([once]), await one.quotas.take([once])]).toEqual([undefined, once]);
    const next = { ...once, from: 120_000, to: 180_000 };
    expect([await one.quotas.take([next]), await one.quotas.take([next])]).toEqual([undefined, next]);
  });

  test("are exact if several processes take at the same moment", async () => {
    const { one, other } = processes;
    const ten = { ...calls, limit: 10 };
    const taken = await Promise.all(
      Array.from({ length: 40 }, (_, place) => (place % 2 === 0 ? one : other).quotas.take([ten])),
    );
    expect(taken.filter((full) => full === undefined)).toHaveLength(10);
  });
}
