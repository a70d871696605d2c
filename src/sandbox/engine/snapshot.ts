/**
 * The memory of an engine in which the guest's script has run, taken when the executable is built. Parsing the script
 * in a cold engine takes longer than everything else an execution does before its code runs; copying does not.
 *
 * It is laid over a fresh engine that has done the same steps up to the script: QuickJS and its allocator are
 * deterministic, so that all addresses are the same. Where they are not, the snapshot is not used.
 */
import type { QuickJSContext } from "quickjs-emscripten-core";
import { Cell } from "../cell.ts";
import type { Engine } from "./engine.ts";

/** Memory is compared in blocks; runs of blocks that the script changed are in the snapshot. */
const blockBytes = 256;

/** The same for every fresh engine up to here; another when anything before went another way. */
function allocationMark(context: QuickJSContext): number {
  using probe = context.newObject();
  return Number(probe.value) ^ (Number(context.global.value) << 8);
}

/** Makes the guest ready the long way. */
export function runGuest(context: QuickJSContext, guestScript: string): void {
  context.unwrapResult(context.evalCode(guestScript, "guest.js", { type: "global" })).dispose();
}

/** Before the runs: the mark, the engine's end address, and the count of runs. */
const headWords = 3;

interface Run {
  start: number;
  length: number;
}

/**
 * For the build: runs the guest's script in a fresh engine. The snapshot is a row of 32-bit numbers (the head, then start
 * and length of each run) and then the runs themselves.
 */
export function takeSnapshot(engine: Engine, endAddress: number, guestScript: string): Uint8Array {
  let snapshot = new Uint8Array();
  const memory = new Uint8Array(engine.memory.buffer);
  new Cell(engine, endAddress, (context) => {
    const mark = allocationMark(context);
    const before = memory.slice();
    runGuest(context, guestScript);
    const runs = changedRuns(before, memory);
    const head = [mark, endAddress, runs.length, ...runs.flatMap(({ start, length }) => [start, length])];
    snapshot = new Uint8Array(4 * head.length + runs.reduce((sum, { length }) => sum + length, 0));
    new Int32Array(snapshot.buffer, 0, head.length).set(head);
    let at = 4 * head.length;
    for (const { start, length } of runs) {
      snapshot.set(memory.subarray(start, start + length), at);
      at += length;
    }
  });
  return snapshot;
}

/** The engine's end address, see `findEndAddress`. */
export function endAddressOf(snapshot: Uint8Array): number {
  return new Int32Array(snapshot.buffer, snapshot.byteOffset, headWords)[1]!;
}

/** True when the engine now is as if the script had run in it. */
export function restoreSnapshot(engine: Engine, context: QuickJSContext, snapshot: Uint8Array): boolean {
  const [mark = 0, , count = 0] = new Int32Array(snapshot.buffer, snapshot.byteOffset, headWords);
  if (allocationMark(context) !== mark) return false;
  const memory = new Uint8Array(engine.memory.buffer);
  const runs = new Int32Array(snapshot.buffer, snapshot.byteOffset + 4 * headWords, 2 * count);
  let at = 4 * headWords + runs.byteLength;
  for (let index = 0; index < runs.length; index += 2) {
    const [start = 0, length = 0] = runs.subarray(index, index + 2);
    memory.set(snapshot.subarray(at, at + length), start);
    at += length;
  }
  return true;
}

function changedRuns(before: Uint8Array, after: Uint8Array): Run[] {
  const runs: Run[] = [];
  for (let start = 0; start < after.length; start += blockBytes) {
    const end = start + blockBytes;
    if (Buffer.compare(before.subarray(start, end), after.subarray(start, end)) === 0) continue;
    const last = runs.at(-1);
    if (last && last.start + last.length === start) last.length += blockBytes;
    else runs.push({ start, length: blockBytes });
  }
  return runs;
}
