/** Which programs compute: few new ones at a time, those that wait give way, and owners do not wait for each other's programs. */
import { expect, test } from "bun:test";
import { availableParallelism } from "node:os";
import { ComputingPlaces, type PlaceHolder } from "../../src/sandbox/main-thread/computing-places.ts";

const newAtOnce = Math.max(2, availableParallelism());

/** A program that gives up its place if it is `idle`. */
function program(places: ComputingPlaces, owner = ""): PlaceHolder & { idle: boolean; looks: number } {
  return {
    owner,
    idle: false,
    looks: 0,
    giveUpIfIdle() {
      this.looks += 1;
      if (this.idle) places.release(this);
    },
  };
}

/** Takes places for programs of an owner. Returns them, and which have a place by now. */
function taking(places: ComputingPlaces, count: number, owner = "", signal?: AbortSignal) {
  const has: boolean[] = new Array(count).fill(false);
  const programs = has.map((_, number) => {
    const each = program(places, owner);
    const waiting = places.acquire(each, signal, { owner });
    if (waiting) void waiting.then((acquired) => (has[number] = acquired));
    else has[number] = true;
    return each;
  });
  return { programs, count: () => has.filter(Boolean).length };
}

test("as many programs are new as there are cores, and the next one begins when one ends", async () => {
  const places = new ComputingPlaces(newAtOnce * 4);
  const { programs, count } = taking(places, newAtOnce + 2);
  expect(count()).toBe(newAtOnce);
  places.release(programs[0]!);
  await Promise.resolve();
  await Promise.resolve();
  expect(count()).toBe(newAtOnce + 1);
  places.close();
});

test("a program that computes for long is not new any more, and others compute beside it, up to all places", async () => {
  const places = new ComputingPlaces(newAtOnce * 2);
  const { count } = taking(places, newAtOnce * 2 + 1);
  expect(count()).toBe(newAtOnce);
  await Bun.sleep(200);
  expect(count()).toBe(newAtOnce * 2);
  places.close();
});

test("a program that only waits gives its place to one that waits for a place, and nobody is looked at otherwise", async () => {
  const places = new ComputingPlaces(newAtOnce);
  const { programs, count } = taking(places, newAtOnce);
  await Bun.sleep(50);
  expect(programs.map(({ looks }) => looks)).toEqual(programs.map(() => 0));
  programs[0]!.idle = true;
  const next = taking(places, 1);
  expect([count(), next.count()]).toEqual([newAtOnce, 0]);
  await Bun.sleep(100);
  expect(next.count()).toBe(1);
  places.close();
});

test("programs that keep coming do not put off the look at those that wait", async () => {
  const places = new ComputingPlaces(newAtOnce);
  const { programs } = taking(places, newAtOnce);
  const ending = new AbortController();
  for (let time = 0; time < 60; time++) {
    taking(places, 1, "", ending.signal);
    await Bun.sleep(1);
  }
  expect(programs[0]!.looks).toBeGreaterThan(2);
  ending.abort();
  places.close();
});

test("an owner with many programs leaves places for owners that have none", async () => {
  const places = new ComputingPlaces(newAtOnce * 2);
  const heavy = taking(places, newAtOnce * 4, "heavy");
  await Bun.sleep(200);
  expect(heavy.count()).toBe(newAtOnce);
  const other = taking(places, 1, "other");
  await Bun.sleep(1);
  expect([heavy.count(), other.count()]).toEqual([newAtOnce, 1]);
  places.close();
});

test("an abort and the end of all end the wait", async () => {
  const places = new ComputingPlaces(newAtOnce);
  taking(places, newAtOnce);
  const ending = new AbortController();
  const aborted = places.acquire(program(places), ending.signal, {});
  const closed = places.acquire(program(places), undefined, {});
  ending.abort();
  expect(await aborted).toBe(false);
  places.close();
  expect(await closed).toBe(false);
  expect(await places.acquire(program(places), undefined, {})).toBe(false);
});
