/** The engine's own loops can be interrupted, and a program that is not understood is refused. */
import { expect, test } from "bun:test";
import { instantiateInterruptible } from "../../src/sandbox/engine/interruptible.ts";
import { makeInterruptible } from "../../src/sandbox/engine/make-interruptible.ts";

/** A handwritten program: it imports `env.ping: () → ()`, and its export `run` calls it in an endless loop. */
const program = (loopBody: number[]) =>
  Uint8Array.from([
    ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, [1, 0x60, 0, 0]), // type () → ()
    ...section(2, [1, 3, 0x65, 0x6e, 0x76, 4, 0x70, 0x69, 0x6e, 0x67, 0, 0]), // import env.ping
    ...section(3, [2, 0, 0]), // two functions
    ...section(6, [0]), // no globals
    ...section(7, [1, 3, 0x72, 0x75, 0x6e, 0, 1]), // export run
    ...section(10, [
      2,
      ...sized([0, 0x03, 0x40, ...loopBody, 0x0c, 0, 0x0b, 0x0b]), // loop … br 0 end
      ...sized([0, ...Array.from({ length: 40 }, () => 0x01), 0x0b]), // the largest function: nops
    ]),
  ]);
const sized = (bytes: number[]) => [bytes.length, ...bytes];
const section = (id: number, bytes: number[]) => [id, ...sized(bytes)];
const callPing = [0x10, 0];

async function instantiate(bytes: Uint8Array<ArrayBuffer>, ping: () => void, onTick: () => void) {
  const instance = await instantiateInterruptible(await WebAssembly.compile(bytes), { env: { ping } }, onTick);
  return instance.exports["run"] as () => void;
}

test("an endless loop calls the host regularly, and ends when the host throws", async () => {
  let pings = 0;
  let ticks = 0;
  const run = await instantiate(
    makeInterruptible(program(callPing)),
    () => {
      pings += 1;
    },
    () => {
      ticks += 1;
      if (ticks === 3) throw new Error("enough");
    },
  );
  expect(run).toThrow("enough");
  expect(ticks).toBe(3);
  // The import that is used for this still works.
  expect(pings).toBeGreaterThan(1_000);
  expect(Number.isInteger((pings + 1) / 3)).toBe(true);
});

test("a program that was not made interruptible is refused", async () => {
  expect(
    instantiate(
      program(callPing) as Uint8Array<ArrayBuffer>,
      () => {},
      () => {},
    ),
  ).rejects.toThrow("not made interruptible");
});

test("loops that compare texts are interruptible too, since a search repeats them", () => {
  const get = [0x20, 0];
  const load = (opcode: number) => [...get, opcode, 0, 0];
  const bodies: Record<string, number[]> = {
    calls: callPing,
    comparesBytes: [...load(0x2d), ...load(0x2d), 0x46, 0x1a],
    comparesWideAndNarrow: [...load(0x28), ...load(0x2f), ...load(0x2d), 0x46, 0x1a],
    readsOne: [...load(0x2d), 0x1a],
    readsWords: [...load(0x28), ...load(0x28), 0x46, 0x1a],
    copies: [...get, ...load(0x2d), 0x3a, 0, 0, ...load(0x2d), 0x1a],
  };
  const grownBy = (body: number[]) => makeInterruptible(program(body)).length - program(body).length;
  const unchecked = grownBy(bodies["copies"] ?? []);
  const checked = Object.keys(bodies).filter((name) => grownBy(bodies[name] ?? []) > unchecked);
  expect(checked).toEqual(["calls", "comparesBytes", "comparesWideAndNarrow"]);
});

test("an unknown instruction is an error", () => {
  expect(() => makeInterruptible(program([0xff, 0]))).toThrow("Unknown operator: 255");
  expect(() => makeInterruptible(program(callPing).subarray(0, 60))).toThrow();
});
