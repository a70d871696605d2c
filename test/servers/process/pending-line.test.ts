/** A line that arrives in chunks: whatever their sizes, its bytes are the same. */
import { expect, test } from "bun:test";
import { PendingLine } from "../../../src/servers/process/pending-line.ts";

const bytesOf = (text: string) => new TextEncoder().encode(text);

test.each([1, 7, 4_096, 700_000, 3_000_000])("a line in chunks of %d bytes is the same line", (chunkBytes) => {
  const whole = bytesOf(`  {"text":"${"äbc".repeat(chunkBytes < 100 ? 50 : 900_000)}"}`);
  const filled = () => {
    const line = new PendingLine();
    for (let start = 0; start < whole.length; start += chunkBytes) line.add(whole.subarray(start, start + chunkBytes));
    return line;
  };
  const line = filled();
  expect(line.size).toBe(whole.length);
  expect(line.first()).toBe(0x7b);
  expect(Buffer.compare(line.bytes(), whole)).toBe(0);
  const beginning = line.beginning(20);
  expect(beginning.length).toBeGreaterThan(0);
  expect(Buffer.compare(beginning, whole.subarray(0, beginning.length))).toBe(0);
  expect(Buffer.compare(Buffer.concat(filled().take()), whole)).toBe(0);
});

test("the taken parts have their own buffers, and the line is empty afterwards", () => {
  const chunk = bytesOf('{"a":1}\n{"b":2}\n');
  const line = new PendingLine();
  line.add(chunk.subarray(0, 7));
  const [part] = line.take();
  expect(part?.buffer).not.toBe(chunk.buffer);
  expect([Buffer.from(part!).toString(), line.size, line.first()]).toEqual(['{"a":1}', 0, undefined]);
});

test("the memory of an own chunk is freed when it is joined, and a part of a larger buffer is left alone", () => {
  const own = new Uint8Array(1_000).fill(0x61);
  const shared = new Uint8Array(2_000).fill(0x62);
  const other = new Uint8Array(10).fill(0x63);
  const line = new PendingLine();
  line.add(own, true);
  line.add(shared.subarray(0, 1_000), true);
  line.add(other);
  expect(Buffer.concat(line.take()).toString()).toBe(`${"a".repeat(1_000)}${"b".repeat(1_000)}${"c".repeat(10)}`);
  expect([own.length, shared.length, other.length]).toEqual([0, 2_000, 10]);
});
