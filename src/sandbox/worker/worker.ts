/** The worker that programs run in: one execution at a time, each in a restored context. */
import { collectSoon } from "../../base/collect-soon.ts";
import { largeJsonChars } from "../../base/limits.ts";
import { takenMemory } from "../../base/machine-memory.ts";
import { textOf } from "../binding-value.ts";
import { createEngine, findEndAddress } from "../engine/engine.ts";
import { pageBytes, type ReadyMemory } from "../engine/remembered.ts";
import {
  allocationMark,
  endAddressOf,
  restoreReady,
  restoreSnapshot,
  runGuest,
  snapshotFor,
} from "../engine/snapshot.ts";
import { compiledEngine } from "../engine/wasm.ts";
import { firstMemoryBytes } from "../limits.ts";
import type { FromWorker, PrepareMessage, SettleMessage, ToWorker } from "../messages.ts";
import { buffersOf, type ProgramImage } from "../program-image.ts";
import { WorkerProgram } from "./program.ts";
import { ReusableContext } from "./reusable-context.ts";

declare const self: Worker;

/** Makes UTC the time zone of all programs: the engine takes its local time from this thread's `Date`. */
const dateMethods = Date.prototype as unknown as Record<string, unknown>;
for (const field of ["FullYear", "Month", "Date", "Day", "Hours", "Minutes", "Seconds", "Milliseconds"]) {
  dateMethods[`get${field}`] = dateMethods[`getUTC${field}`];
}
dateMethods["getTimezoneOffset"] = () => 0;

let settings: PrepareMessage | undefined;
let context: Promise<ReusableContext> | undefined;
/** Resolves when the worker has reported that it is prepared. A job that begins earlier could delay the report for seconds. */
let prepared: Promise<void> | undefined;
let current: WorkerProgram | undefined;

/** The memory in which the guest is ready. An earlier worker has made it, or this one does. */
let ready: ReadyMemory | undefined;

/** The memory begins with `firstBytes`. */
async function createContext(
  { engine: given, guest, memoryBytes, growBelowBytes, again }: PrepareMessage,
  firstBytes?: number,
): Promise<ReusableContext> {
  const module = given ?? (await compiledEngine());
  const known = ready;
  const taking = known ? noSnapshot : snapshotFor(() => textIn(guest));
  const options = { firstBytes, mayGrow: () => takenMemory() < growBelowBytes };
  const [engine, taken] = await Promise.all([createEngine(module, memoryBytes, options), taking]);
  const isTaken = taken.length > 0;
  const endAddress = known?.endAddress ?? (isTaken ? endAddressOf(taken) : await findEndAddress(module));
  const made = new ReusableContext(engine, endAddress, (quickjs, reusable) => {
    const mark = allocationMark(quickjs);
    const isRestored = known
      ? restoreReady(engine, quickjs, known)
      : isTaken && restoreSnapshot(engine, quickjs, taken);
    if (!isRestored) runGuest(quickjs, textIn(guest));
    if (again) ready ??= { mark, endAddress, ...reusable.share() };
  });
  if (again) made.remember(ready);
  return made;
}

/** Where the memory of a saved program ends. */
const endOf = ({ manifest }: ProgramImage) =>
  (manifest.pages.reduce((last, page) => Math.max(last, page), 0) + 1) * pageBytes;

const textIn = (bytes: Uint8Array) => Buffer.from(bytes).toString();

const noSnapshot = new Uint8Array();

self.onmessage = ({ data }: MessageEvent<ToWorker>) => {
  if (typeof data === "string") {
    current?.settleAll(JSON.parse(data) as SettleMessage[]);
    return;
  }
  switch (data.type) {
    case "prepare":
      settings = data;
      ready = data.ready;
      context = createContext(data);
      // Every program needs the code, so it is loaded while the main thread prepares the first one.
      prepared = Promise.allSettled([context, import("../code/transpile.ts"), import("../code/check.ts")]).then(
        async () =>
          send({
            type: "prepared",
            engine: data.engine ? undefined : await compiledEngine(),
            ready: data.ready ? undefined : ready,
          }),
      );
      break;
    case "renew":
      current = undefined;
      context = context?.then(async (made) => ((await made.renew()) || !settings ? made : createContext(settings)));
      context?.catch(() => {});
      break;
    case "run":
    case "resume": {
      if (!context || !settings) break;
      const known = settings;
      // There may be memory now, if there was none when the program before ended.
      context = context.catch(() => createContext(known));
      const firstBytes = data.type === "resume" ? endOf(data.saved) : 0;
      // The engine cannot be told to grow, so it begins with the memory of a program that continues.
      if (firstBytes > firstMemoryBytes) context = context.then(() => createContext(known, firstBytes));
      const program = new WorkerProgram(context, data, send);
      current = program;
      void prepared?.then(() => (data.type === "run" ? program.start() : program.resume(data.saved)));
      break;
    }
    default:
      current?.received(data);
      if (data.type === "settle") collectWhenLarge(data);
  }
};

/** A large answer leaves much garbage once it is copied into the engine. */
function collectWhenLarge(message: SettleMessage): void {
  const { length } = "error" in message ? "" : textOf(message);
  if (length > largeJsonChars) collectSoon(length);
}

function send(message: FromWorker): void {
  const isSaved = typeof message !== "string" && (message.type === "parked" || message.type === "checkpoint");
  if (isSaved && message.saved) self.postMessage(message, buffersOf(message.saved));
  else self.postMessage(message);
}
