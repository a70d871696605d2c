/**
 * The memory of an engine in which the guest's script has run, taken when the executable is built. Parsing the script
 * in a cold engine takes longer than everything else an execution does before its code runs; copying does not.
 *
 * It is copied over a fresh engine that did the same steps up to the script. QuickJS and its allocator are deterministic, so all
 * addresses are the same. If they are not, the snapshot is not used.
 */
import type { QuickJSContext } from "quickjs-emscripten-core";
import { partsOf } from "../guest/parts.ts";
import snapshotFile from "../guest-snapshot.bin" with { type: "file" };
import { ReusableContext } from "../worker/reusable-context.ts";
import type { Engine } from "./engine.ts";
import { madeFile } from "./made-files.ts";
import { changedRuns, restoreRuns, writeRuns } from "./memory-runs.ts";
import { type ReadyMemory, restorePart } from "./remembered.ts";

/** A value that is the same for every fresh engine, and differs if anything before went differently. */
export function allocationMark(context: QuickJSContext): number {
  using probe = context.newObject();
  return Number(probe.value) ^ (Number(context.global.value) << 8);
}

/** Makes the guest ready without a snapshot. */
export function runGuest(context: QuickJSContext, guestScript: string): void {
  for (const part of partsOf(guestScript))
    context.unwrapResult(context.evalCode(part, "guest.js", { type: "global" })).dispose();
}

/** The head before the runs: the mark, the engine's end address, and the number of runs. */
const headWords = 3;

/** The engine takes its first random numbers from the clock, and they stay in its memory. */
function atFixedTime<Result>(work: () => Result): Result {
  const now = Date.now;
  Date.now = () => 0;
  try {
    return work();
  } finally {
    Date.now = now;
  }
}

/**
 * Runs the guest's script in a fresh engine, for the build. The snapshot consists of 32-bit numbers (the head, then start and
 * length of each run), followed by the runs. The same engine and script always give the same bytes.
 */
export function takeSnapshot(engine: Engine, endAddress: number, guestScript: string): Uint8Array {
  let snapshot: Uint8Array = new Uint8Array();
  const memory = engine.memory.bytes;
  const take = (context: QuickJSContext) => {
    const mark = allocationMark(context);
    const before = memory.slice();
    runGuest(context, guestScript);
    const runs = changedRuns(before, memory);
    snapshot = writeRuns([mark, endAddress, runs.length], runs, memory);
  };
  atFixedTime(() => new ReusableContext(engine, endAddress, take));
  return snapshot;
}

/** The build replaces an empty file with the snapshot. From source, a build may have kept one; else the guest's script runs. */
export async function snapshotFor(guest: () => string): Promise<Uint8Array> {
  const made = madeFile("guest", guest);
  const kept = made === undefined ? undefined : Bun.file(made);
  return (kept && (await kept.exists()) ? kept : Bun.file(snapshotFile)).bytes();
}

/** The engine's end address: see `findEndAddress`. */
export function endAddressOf(snapshot: Uint8Array): number {
  return new Int32Array(snapshot.buffer, snapshot.byteOffset, headWords)[1]!;
}

/** Returns true if the engine is now as if the script had run in it. */
export function restoreSnapshot(engine: Engine, context: QuickJSContext, snapshot: Uint8Array): boolean {
  const [mark = 0] = new Int32Array(snapshot.buffer, snapshot.byteOffset, headWords);
  if (allocationMark(context) !== mark) return false;
  restoreRuns(snapshot, headWords, engine.memory.bytes);
  return true;
}

/** The same with the memory of another engine of this process. */
export function restoreReady(engine: Engine, context: QuickJSContext, ready: ReadyMemory): boolean {
  if (allocationMark(context) !== ready.mark) return false;
  const memory = engine.memory.bytes;
  restorePart(memory, ready.statics);
  restorePart(memory, ready.heap);
  return true;
}
