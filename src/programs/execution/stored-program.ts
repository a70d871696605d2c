/** The stored form of a program: a head, which is small, and records of what it has logged, displayed and called. */

import { deserialize, serialize } from "node:v8";
import { eventLoopTurn } from "../../base/event-loop.ts";
import { kilobyte } from "../../base/units.ts";
import type { RestoredRun, SavedRun } from "../../sandbox/checkpoint-contract.ts";
import type { RecordedOutput, RecorderState } from "../../sandbox/main-thread/outcome-recorder.ts";
import type { LogPart } from "../../sandbox/messages.ts";
import type { PageBatch, ProgramImage } from "../../sandbox/program-image.ts";
import type { CallChanges, Noted, Timeline, TimelineHead } from "./recording.ts";

/** Characters of one record of a stored program. Longer texts are split. */
const storedRecordChars = 256 * kilobyte;

/** An entry of a record: log lines, a part of a displayed value, or a call with its place in the timeline. */
type RecordEntry =
  | { logs: readonly LogPart[] }
  | { display: string; isMore: boolean }
  | { place: number; noted: Noted }
  | "new timeline";

/** The first part of a stored program. It says which pages and records belong to it. */
export interface StoredHead {
  image: Omit<ProgramImage, "batches" | "isWhole">;
  recorder: RecorderState;
  restMs: number;
  wakeAt: number | undefined;
  timeline: TimelineHead | undefined;
  /** Number of records. */
  records: number;
}

export interface StoredProgram {
  execution: RestoredRun;
  timeline: Timeline | undefined;
}

/** Copies what may change later. The number of records is known when they have been made. */
export function headOf(saved: SavedRun, timeline: TimelineHead | undefined): (records: number) => Uint8Array {
  const { image, recorder, restMs, wakeAt } = saved;
  const { manifest, now, at, isAsleep } = image;
  const head: Omit<StoredHead, "records"> = {
    image: { manifest, now, at, isAsleep },
    recorder,
    restMs,
    wakeAt,
    timeline,
  };
  const copied = serialize(head);
  return (records) => serialize({ copied, records });
}

export function readHead(program: Uint8Array): StoredHead {
  const { copied, records } = deserialize(program) as { copied: Uint8Array; records: number };
  return { ...(deserialize(copied) as Omit<StoredHead, "records">), records };
}

/** The entries for what was recorded. Long texts are split. */
function* entriesOf(
  recorded: readonly RecordedOutput[],
  timeline: CallChanges | undefined,
): Generator<[RecordEntry, number]> {
  for (const each of recorded) {
    if (typeof each !== "string") {
      yield [{ logs: each }, each.reduce((sum, { text }) => sum + text.length + 32, 0)];
      continue;
    }
    for (let from = 0; from === 0 || from < each.length; from += storedRecordChars) {
      const display = each.slice(from, from + storedRecordChars);
      yield [{ display, isMore: from + storedRecordChars < each.length }, display.length];
    }
  }
  if (timeline?.isWhole) yield ["new timeline", 0];
  for (const [place, noted] of timeline?.calls ?? []) yield [{ place, noted }, 200 + noted.call.args.length];
}

/** Makes records. Other events are handled between them. */
export async function* recordsOf(
  recorded: readonly RecordedOutput[],
  timeline: CallChanges | undefined,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  let [entries, chars] = [[] as RecordEntry[], 0];
  for (const [entry, length] of entriesOf(recorded, timeline)) {
    entries.push(entry);
    chars += length;
    if (chars < storedRecordChars) continue;
    yield new Uint8Array(serialize(entries));
    [entries, chars] = [[], 0];
    await eventLoopTurn();
  }
  if (entries.length > 0) yield new Uint8Array(serialize(entries));
}

/** Reads a program without its pages. Other events are handled between the records. */
export async function readProgram(head: StoredHead, batches: readonly PageBatch[]): Promise<StoredProgram> {
  const { image, recorder, restMs, wakeAt, timeline } = head;
  const recorded: RecordedOutput[] = [];
  const noted: Noted[] = [];
  let display = "";
  for (const { sizes, bytes } of batches) {
    let at = 0;
    for (const size of sizes) {
      for (const entry of deserialize(new Uint8Array(bytes, at, size)) as RecordEntry[]) {
        if (entry === "new timeline") noted.length = 0;
        else if ("logs" in entry) recorded.push(entry.logs);
        else if ("noted" in entry) noted[entry.place] = entry.noted;
        else {
          display += entry.display;
          if (entry.isMore) continue;
          recorded.push(display);
          display = "";
        }
      }
      at += size;
      await eventLoopTurn();
    }
  }
  return {
    execution: { image, recorder, recorded, restMs, wakeAt },
    timeline: timeline && { ...timeline, noted: noted.filter(Boolean) },
  };
}

/** The whole image, from its pages. */
export function wholeImage({ image }: Pick<StoredHead, "image">, batches: PageBatch[]): ProgramImage {
  return { ...image, batches, isWhole: true };
}
