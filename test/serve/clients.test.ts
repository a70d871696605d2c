/** A place is freed for a newcomer when all are taken, so that connections alone keep nobody out, whatever names clients choose. */
import { describe, expect, test } from "bun:test";
import { type ClientPlace, placeToFree } from "../../src/serve/http/clients.ts";

interface Use {
  isWorking?: boolean;
  isInUse?: boolean;
}

/** A place of a client at an address, which is this machine unless the name has one: `name@address`. */
function place(client: string, usedAt: number, { isWorking = false, isInUse = isWorking }: Use = {}): ClientPlace {
  const [, address = "local"] = client.split("@");
  return { client, address, usedAt, isWorking, isInUse };
}
const newcomer = (client: string) => place(client, 0);
const listening = { isInUse: true };
const working = { isWorking: true };

const named = (count: number, use: Use, name: (number: number) => string = (number) => `name-${number}`) =>
  Array.from({ length: count }, (_, number) => place(name(number), number, use));

describe("an unused place", () => {
  test("is given up first by the same client, even if places of other clients are unused for longer", () => {
    const places = [place("b", 1), place("a", 3), place("a", 2), place("b", 0)];
    expect(placeToFree(places, newcomer("a"))).toBe(places[2]!);
  });

  test("is given up before one that listens", () => {
    const places = [place("a", 1, listening), place("a", 2)];
    expect(placeToFree(places, newcomer("a"))).toBe(places[1]!);
  });

  test("is given up for a new client by the client with the most places", () => {
    const places = [place("b", 1), place("c", 2), place("c", 3)];
    expect(placeToFree(places, newcomer("a"))).toBe(places[1]!);
  });
});

describe("a place that only listens", () => {
  test("is given up by the client with the most of them, and by the longest unused one if all have one", () => {
    const hoard = [place("b", 1, listening), place("c", 2, listening), place("c", 3, listening)];
    expect(placeToFree(hoard, newcomer("a"))).toBe(hoard[1]!);
    const single = [place("b", 2, listening), place("c", 1, listening)];
    expect(placeToFree(single, newcomer("a"))).toBe(single[1]!);
  });

  test("is given up for any client of the address, however many names listen there", () => {
    const places = [...named(98, listening), place("a", 0, working), place("a", 1, working)];
    for (const name of ["new", "a", "name-5"]) {
      const freed = placeToFree(places, newcomer(name));
      expect([name, freed?.isInUse, freed?.isWorking]).toEqual([name, true, false]);
    }
  });

  test("is given up by another address only if that has at least as many places", () => {
    const flood = named(98, listening, (number) => `name-${number}@flood`);
    const others = [place("b@one", -2, listening), place("c@two", -1, listening)];
    const places = [...others, ...flood];
    for (const name of ["new@three", "new@one", "new@flood"]) {
      expect([name, placeToFree(places, newcomer(name))?.address]).toEqual([name, "flood"]);
    }
    const busy = [...others, ...named(98, working, (number) => `name-${number}@flood`)];
    expect(placeToFree(busy, newcomer("new@flood"))).toBeUndefined();
    expect(placeToFree(busy, newcomer("new@three"))).toBe(others[0]!);
  });
});

test("a place that works is never given up", () => {
  expect(
    placeToFree([place("a", 1, working), place("b", 2, working), ...named(9, working)], newcomer("a")),
  ).toBeUndefined();
});

test("a flood of new names takes its own places again and again, and none that work", () => {
  const places = [place("calm", 0, listening), ...named(7, working, (number) => `busy-${number}`)];
  for (let number = 0; number < 500; number++) {
    const client = `flood-${number}`;
    if (places.length >= 10) places.splice(places.indexOf(placeToFree(places, newcomer(client))!), 1);
    places.push(place(client, 100 + number, listening));
  }
  expect(places.filter(({ isWorking }) => isWorking)).toHaveLength(7);
  // A client whose stream was closed gets in again.
  expect(placeToFree(places, newcomer("calm"))?.client).toStartWith("flood-");
});
