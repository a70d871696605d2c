/** For random policies and every way to call tools: denied calls never reach the server, and allowed ones do. */
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { policyOf } from "../../src/config/policy.ts";
import { denialOf } from "../../src/policy/decision.ts";
import { Recorded } from "./recorded.ts";
import { ways } from "./ways.ts";

setDefaultTimeout(60_000);

const recorded = new Recorded();
afterAll(() => recorded[Symbol.asyncDispose]());

/** The same numbers in every run (mulberry32). */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const names = ["get-a", "get-b", "set-a", "set-b", "a", "ab", "drop-all-a"];
const every = Object.entries(ways);

interface Lists {
  allow: string[] | undefined;
  deny: string[] | undefined;
}

/** Pairs of policies: of an entry, and for all servers. */
function* policies(seed: number): Generator<{ keys: Lists; policy: Lists; pick: <T>(list: readonly T[]) => T }> {
  const next = random(seed);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(next() * list.length)]!;
  const pattern = () => {
    const name = pick(names);
    const at = Math.floor(next() * (name.length + 1));
    return pick([
      name,
      `${name.slice(0, at)}*`,
      `*${name.slice(at)}`,
      `${name.slice(0, at)}*${name.slice(at)}`,
      "*",
      "x*",
    ]);
  };
  const list = (of: () => string) => (next() < 0.5 ? undefined : Array.from({ length: Math.floor(next() * 3) }, of));
  const common = () => `${pick(["rec", "*", "r*", "other"])}.${pattern()}`;
  for (;;) {
    const keys = { allow: list(pattern), deny: list(pattern) };
    yield { keys, policy: { allow: next() < 0.7 ? undefined : list(common), deny: list(common) }, pick };
  }
}

test("a thousand random policies decide as the reference does", () => {
  let denials = 0;
  for (const { keys, policy } of policies(5).take(1_000)) {
    const decided = policyOf("rec", keys, policy, new Map(["rec", "other"].map((name) => [name, {}])));
    for (const name of names) {
      const isDenied = decided !== undefined && denialOf(decided, name) !== undefined;
      expect([keys, policy, name, isDenied]).toEqual([keys, policy, name, !isAllowed(name, keys, policy)]);
      denials += Number(isDenied);
    }
  }
  expect(denials).toBeGreaterThan(1_000);
});

test("random policies decide calls of every kind as the reference does", async () => {
  let denials = 0;
  for (const { keys, policy, pick } of policies(6).take(12)) {
    await recorded.open(
      keys,
      policy,
      names.map((name) => ({ name })),
    );
    const calls = names.map((name) => [name, ...pick(every)] as const);
    const results = await Promise.all(
      calls.map(async ([name, wayName, way]) => [wayName, name, await way(recorded, name)] as const),
    );
    const allowed = names.filter((name) => isAllowed(name, keys, policy));
    const told = JSON.stringify({ keys, policy });
    expect([
      told,
      recorded
        .got()
        .map(({ name }) => name)
        .sort(),
    ]).toEqual([told, allowed.toSorted()]);
    for (const [way, name, { ok, code }] of results) {
      expect([told, way, name, ok ? undefined : code]).toEqual([
        told,
        way,
        name,
        allowed.includes(name) ? undefined : "POLICY_DENIED",
      ]);
    }
    denials += names.length - allowed.length;
  }
  expect(denials).toBeGreaterThan(12);
});

/** The same rules, written differently. */
function isAllowed(name: string, keys: Lists, policy: Lists): boolean {
  const has = (list: string[] | undefined, text: string) =>
    list?.some((each) => new RegExp(`^${each.replace(/[.\\]/g, "\\$&").replaceAll("*", ".*")}$`, "s").test(text));
  const isDenied = has(keys.deny, name) || has(policy.deny, `rec.${name}`);
  return !isDenied && has(keys.allow, name) !== false && has(policy.allow, `rec.${name}`) !== false;
}
