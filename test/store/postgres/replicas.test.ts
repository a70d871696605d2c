/** What replicas know of each other: who can be reached, who has which session, and short texts that one browser opens. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { PostgresStore } from "../../../src/store/postgres/store.ts";
import { type PostgresFixture, postgresFixture, postgresNote } from "../../support/postgres.ts";

setDefaultTimeout(60_000);

const minute = 60_000;

describe.skipIf(postgresNote !== "")(`replicas of one Postgres${postgresNote}`, () => {
  let server: PostgresFixture;
  beforeAll(async () => {
    server = await postgresFixture();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  const session = (id: string, more: object = {}) => ({
    ...{ id, place: "config", owner: "token:1", client: "agent", parameters: "{}", kept: "{}" },
    ...more,
  });

  test("are found by their names as long as they are alive, and so is what they run", async () => {
    const url = await server.database();
    await using one = new PostgresStore(url);
    await using other = new PostgresStore(url);
    await using before = await one.takeOwner();
    const replica = await one.replicas.join("http://10.0.0.1:4600");
    const reached = { replica: replica.name, url: "http://10.0.0.1:4600" };
    expect(await other.replicas.find(replica.name)).toEqual(reached);
    const rows = await server.run(url, `SELECT replica, url FROM claudikins.owners WHERE name = '${before.name}'`);
    expect(rows).toEqual([reached]);
    await replica[Symbol.asyncDispose]();
    expect(await other.replicas.find(replica.name)).toBe(undefined);
  });

  test("have one key, also if several ask at once", async () => {
    const url = await server.database();
    await using one = new PostgresStore(url);
    await using other = new PostgresStore(url);
    const keys = await Promise.all([one, other, one, other].map(({ replicas }) => replicas.key()));
    expect(new Set(keys.map((key) => key.toHex())).size).toBe(1);
    expect(keys[0]!.length).toBe(32);
  });

  test("race for the sessions of a dead one: each session gets one of them, and no living one loses any", async () => {
    const url = await server.database();
    await using one = new PostgresStore(url);
    await using other = new PostgresStore(url);
    const [first, second] = [await one.replicas.join("http://one"), await other.replicas.join("http://other")];
    const ids = Array.from({ length: 30 }, (_, index) => `s${index}`);
    for (const id of ids) await one.replicas.sessions.begin(session(id), "a replica that has died", minute);
    expect(await one.replicas.sessions.find("s0")).toBe(undefined);
    const adopt = (store: PostgresStore, to: string) =>
      Promise.all(ids.map((id) => store.replicas.sessions.adopt(session(id), to, minute)));
    const [ofFirst, ofSecond] = await Promise.all([adopt(one, first.name), adopt(other, second.name)]);
    for (const [index] of ids.entries()) {
      const winners = [ofFirst![index], ofSecond![index]].filter((each) => each !== undefined);
      expect(winners).toEqual([{ ...session(`s${index}`), adoptions: 1 }]);
    }
    const again = await Promise.all([adopt(one, first.name), adopt(other, second.name)]);
    expect(again.flat().filter((each) => each !== undefined)).toEqual([]);
    await using _ = first;
    await using __ = second;
  });

  test("refuse to adopt a session of another token or place, one that has ended, and one that has been idle for too long", async () => {
    const url = await server.database();
    await using store = new PostgresStore(url);
    await using replica = await store.replicas.join("http://one");
    const { sessions } = store.replicas;
    const dead = "a replica that has died";
    await sessions.begin(session("mine"), dead, minute);
    await sessions.begin(session("open", { owner: null }), dead, minute);
    await sessions.begin(session("old"), dead, 1);
    await sessions.begin(session("ended"), dead, minute);
    await sessions.end("ended", replica.name);
    const rows = () => server.run(url, "SELECT id FROM claudikins.sessions WHERE id = 'ended'");
    expect(await rows()).toHaveLength(1);
    await sessions.end("ended", dead);
    expect(await rows()).toEqual([]);
    const adopt = async (id: string, more = {}) =>
      (await sessions.adopt(session(id, more), replica.name, minute)) !== undefined;
    expect(await adopt("mine", { owner: "token:2" })).toBe(false);
    expect(await adopt("mine", { owner: null })).toBe(false);
    expect(await adopt("mine", { place: "other" })).toBe(false);
    expect([await adopt("old"), await adopt("ended"), await adopt("open")]).toEqual([false, false, false]);
    expect([await adopt("mine"), await adopt("open", { owner: null })]).toEqual([true, true]);
    await sessions.keep("mine", dead, "not mine any more");
    expect(await sessions.renew([{ id: "mine", ms: minute }], dead)).toEqual(new Set());
    expect(await sessions.renew([{ id: "mine", ms: minute }], replica.name)).toEqual(new Set(["mine"]));
    expect(await server.run(url, "SELECT kept FROM claudikins.sessions WHERE id = 'mine'")).toEqual([{ kept: "{}" }]);
  });

  test("keep short texts for their time: the newest ones of a kind, and each is taken once", async () => {
    const url = await server.database();
    await using store = new PostgresStore(url);
    const { values } = store.replicas;
    const value = (id: string, ms = minute) => ({ kind: "k", id, value: `of ${id}`, endsAt: Date.now() + ms });
    for (const id of ["a", "b", "c"]) await values.add(value(id), 2);
    await values.add({ ...value("a"), kind: "other" }, 2);
    await values.add({ ...value("late", -1), kind: "short" }, 2);
    expect(await values.missing(["a", "b", "c", "late"])).toEqual(["late"]);
    expect((await values.get("k", "b"))?.value).toBe("of b");
    expect(await values.get("k", "a")).toBe(undefined);
    const taken = await Promise.all([values.take("k", "b"), values.take("k", "b")]);
    expect(taken.filter((each) => each !== undefined).map((each) => each.value)).toEqual(["of b"]);
  });
});
