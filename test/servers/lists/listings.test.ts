/** Listings that callers share, in their order and at their limits. The test answers for the servers. */
import { describe, expect, test } from "bun:test";
import { type JoinOptions, Listings, listedAtOnce } from "../../../src/servers/lists/listings.ts";
import { eventually } from "../../support/eventually.ts";

/** Listings of servers whose answers the test gives. */
function controlled(gapMs?: number) {
  const listings = new Listings<string>({ gapMs });
  /** The requests in the order in which they were sent. */
  const sent: { name: string; answer: PromiseWithResolvers<string> }[] = [];
  const ask = (name: string) => () => {
    const answer = Promise.withResolvers<string>();
    sent.push({ name, answer });
    return answer.promise;
  };
  const join = (server: string, options?: JoinOptions, name = server) => listings.join(server, ask(name), options);
  const changed = (server: string) => listings.changed(server, ask(server));
  /** Answers the last request. */
  const finish = async () => {
    sent.at(-1)?.answer.resolve("list");
    await Bun.sleep(0);
  };
  return { listings, sent, join, changed, finish };
}

describe("a caller", () => {
  test("joins the listing that is under way", async () => {
    const { join, sent, finish } = controlled();
    const both = Promise.all([join("a"), join("a", { startsNothing: true })]);
    expect(sent.length).toBe(1);
    await finish();
    expect(await both).toEqual(["list", "list"]);
  });

  test("with isNew waits for the running listing to end, and shares the next one with other such callers", async () => {
    const { join, sent, finish } = controlled();
    const first = join("a");
    const both = Promise.all([join("a", { isNew: true }), join("a", { isNew: true })]);
    expect(sent.length).toBe(1);
    sent[0]?.answer.resolve("old");
    expect(await first).toBe("old");
    await Bun.sleep(0);
    expect(sent.length).toBe(2);
    await finish();
    expect(await both).toEqual(["list", "list"]);
  });

  test("with isNew gets a listing of its own although the running one fails", async () => {
    const { join, sent, finish } = controlled();
    const first = join("a");
    const second = join("a", { isNew: true });
    sent[0]?.answer.reject(new Error("no"));
    await expect(first).rejects.toThrow("no");
    await Bun.sleep(0);
    await finish();
    expect(await second).toBe("list");
  });

  test("does not join a listing that starts nothing if it may start the server itself", async () => {
    const { join, sent, finish } = controlled();
    const quiet = join("a", { startsNothing: true }, "quiet");
    const [next, other] = [join("a", { isNew: true, startsNothing: true }, "quiet"), join("a", {}, "starts")];
    sent[0]?.answer.reject(new Error("not connected"));
    await expect(quiet).rejects.toThrow("not connected");
    await Bun.sleep(0);
    await finish();
    expect(await Promise.all([next, other])).toEqual(["list", "list"]);
    expect(sent.map(({ name }) => name)).toEqual(["quiet", "starts"]);
  });

  test("stops waiting at its signal or after its time, and the listing continues for others", async () => {
    const { listings, join, finish } = controlled();
    const controller = new AbortController();
    const aborted = join("a", { signal: controller.signal });
    controller.abort();
    await expect(aborted).rejects.toMatchObject({ code: "CANCELLED", message: "tools/list of a was cancelled" });
    await expect(join("a", { waitMs: 1 })).rejects.toMatchObject({ code: "CANCELLED" });
    const patient = join("a");
    expect([listings.isUnderWay("a"), listings.askedMs("a") > 0]).toEqual([true, true]);
    await finish();
    expect(await patient).toBe("list");
    expect([listings.isUnderWay("a"), listings.askedMs("a")]).toEqual([false, 0]);
  });
});

describe("many servers", () => {
  test("are asked a few at a time", async () => {
    const { listings, sent, join } = controlled();
    const all = Array.from({ length: listedAtOnce + 2 }, (_, index) => join(`s${index}`, { inTurn: true }));
    void join("s0", { inTurn: true });
    await Bun.sleep(0);
    expect([sent.length, listings.size]).toEqual([listedAtOnce, listedAtOnce + 2]);
    sent[0]?.answer.resolve("list");
    sent[1]?.answer.reject(new Error("no"));
    await all[0];
    await expect(all[1]).rejects.toThrow("no");
    await Bun.sleep(0);
    expect([sent.length, listings.size]).toEqual([listedAtOnce + 2, listedAtOnce]);
    expect([listings.isUnderWay("s0"), listings.isUnderWay("s3")]).toEqual([false, true]);
  });

  test("do not delay a caller that needs one of them at once", async () => {
    const { listings, sent, join, finish } = controlled();
    const others = Array.from({ length: listedAtOnce }, (_, index) => join(`s${index}`, { inTurn: true }));
    const patient = join("late", { inTurn: true }, "patient");
    await Bun.sleep(0);
    expect([sent.length, listings.askedMs("late")]).toEqual([listedAtOnce, 0]);
    const hasty = join("late", {}, "hasty");
    await Bun.sleep(0);
    expect(sent.at(-1)?.name).toBe("hasty");
    await finish();
    expect(await Promise.all([patient, hasty])).toEqual(["list", "list"]);
    for (const { answer } of sent) answer.resolve("list");
    await Promise.all(others);
    expect(listings.size).toBe(0);
  });

  test("are not asked after the end, and their callers get an error", async () => {
    const { listings, sent, join } = controlled();
    const last = Array.from({ length: listedAtOnce + 1 }, (_, index) => join(`s${index}`, { inTurn: true })).at(-1);
    await Bun.sleep(0);
    listings[Symbol.dispose]();
    await expect(last).rejects.toMatchObject({ code: "CANCELLED" });
    await expect(join("more", { inTurn: true })).rejects.toMatchObject({ code: "CANCELLED" });
    expect([sent.length, listings.size]).toEqual([listedAtOnce, listedAtOnce]);
  });
});

describe("listing again after changes", () => {
  test("runs once more for all changes during a run, and not again", async () => {
    const { listings, changed, sent, finish } = controlled();
    for (let count = 0; count < 10; count++) changed("a");
    expect(sent.length).toBe(1);
    const listed = listings.changesListed("a");
    await finish();
    expect(sent.length).toBe(2);
    await finish();
    await listed;
    expect(sent.length).toBe(2);
    expect(listings.isChanging("a")).toBe(false);
  });

  test("one server does not wait for another", () => {
    const { changed, sent } = controlled();
    changed("a");
    changed("b");
    expect(sent.length).toBe(2);
  });

  test("waits for a listing that began before the change", async () => {
    const { listings, join, changed, sent, finish } = controlled();
    void join("a");
    changed("a");
    expect([sent.length, listings.isChanging("a")]).toEqual([1, true]);
    await finish();
    expect(sent.length).toBe(2);
    await finish();
    expect(listings.isChanging("a")).toBe(false);
  });

  test("pauses if changes never end", async () => {
    const { listings, changed, sent, finish } = controlled(60_000);
    for (let count = 0; count < 20; count++) {
      changed("a");
      await finish();
    }
    expect(sent.length).toBe(5);
    listings[Symbol.dispose]();
  });

  test("continues after a pause, and stops when it is disposed", async () => {
    const { listings, changed, sent, finish } = controlled(50);
    for (let count = 0; count < 20; count++) {
      changed("a");
      await finish();
    }
    await listings.changesListed("a");
    const before = sent.length;
    await eventually(() => sent.length !== before);
    changed("a");
    listings[Symbol.dispose]();
    await finish();
    const last = sent.length;
    changed("a");
    expect(sent.length).toBe(last);
  });
});
