/** Pages of an engine's memory that went back to the system are zero, and all others are unchanged. */
import { expect, test } from "bun:test";
import { giveBackPages } from "../../src/sandbox/engine/give-back-pages.ts";

const pageBytes = 65_536;

test.skipIf(process.platform !== "linux")("pages that were given back are zero, and those around them stay", () => {
  const memory = new Uint8Array(new WebAssembly.Memory({ initial: 8, maximum: 8 }).buffer);
  memory.fill(7);
  expect(giveBackPages(memory, 2 * pageBytes, 5 * pageBytes)).toBe(true);
  expect(memory.indexOf(0)).toBe(2 * pageBytes);
  expect(memory.subarray(2 * pageBytes, 5 * pageBytes).every((byte) => byte === 0)).toBe(true);
  expect(memory.subarray(5 * pageBytes).every((byte) => byte === 7)).toBe(true);
  memory.fill(9);
  expect(memory.every((byte) => byte === 9)).toBe(true);
});

test("memory that does not begin with a page stays as it is", () => {
  const memory = new Uint8Array(new WebAssembly.Memory({ initial: 1, maximum: 1 }).buffer).fill(7);
  expect(giveBackPages(memory, 1, pageBytes)).toBe(false);
  expect(memory.every((byte) => byte === 7)).toBe(true);
});
