/** Checks saved programs against the tools of their servers as they are now, in worker threads. */
import { eventLoopTurn, hasTurnTime } from "../../base/event-loop.ts";
import { OffThread, TookTooLong } from "../../base/off-thread.ts";
import { sha256 } from "../../base/sha256.ts";
import type { SavedProgramsPlace } from "../../config/saved-programs-place.ts";
import { RecordingFiles, recordingIn } from "../recordings/recording-files.ts";
import { ProgramLibrary } from "../saved/library.ts";
import type { SavedProgram } from "../saved/model.ts";
import type { CheckJob, Judgement, Reason, SeenShapes } from "./contract.ts";
import type { CurrentTools } from "./current.ts";
import { digestOfReasons } from "./reasons.ts";

/** Time for the check of one recording. What is not known then counts as no reason. */
const checkMs = 30_000;

/** Checks whose findings are remembered. The same program is checked again and again while nothing changes. */
const maxRemembered = 1_000;

export interface CheckedProgram {
  name: string;
  /** How many recordings were replayed. */
  recordings: number;
  /** Why it would break. Empty if it would not. */
  reasons: Reason[];
  /** Whether the user lets schedules and events start it in spite of these reasons. */
  isAcceptedAnyway: boolean;
}

export interface CheckOptions {
  place: SavedProgramsPlace;
  tools: CurrentTools;
  signal?: AbortSignal | undefined;
  /** Shapes of results that were seen now, by program. */
  seen?: ReadonlyMap<string, SeenShapes> | undefined;
}

/** One worker: a second one would take the core of the main thread, and would be no quicker before it is warm. */
const workers = new OffThread<CheckJob, string>("./programs/drift/worker.ts", { maxWorkers: 1 });

/** By a digest of everything that they depend on. */
const remembered = new Map<string, Reason[]>();

/** Digests of programs, each with a recording that fits. */
const fitting = new Set<string>();

/** The programs are the newest versions. In their order. Throws the reason of the signal. */
export async function checkPrograms(
  programs: readonly SavedProgram[],
  options: CheckOptions,
): Promise<CheckedProgram[]> {
  const files = new RecordingFiles(options.place);
  const recordings = Map.groupBy(files.files(), (file) => recordingIn(file)?.program);
  const checked: CheckedProgram[] = [];
  for (const program of programs) {
    const of = { files, recordings: recordings.get(program.name) ?? [], isNewest: true };
    checked.push(await checkedWith(program, of, options));
  }
  return checked;
}

/** One program, perhaps an earlier version of it. Throws the reason of the signal. */
export async function checkProgram(program: SavedProgram, options: CheckOptions): Promise<CheckedProgram> {
  const { name, number } = program;
  const files = new RecordingFiles(options.place);
  const isNewest = new ProgramLibrary(options.place).find(name)?.number === number;
  return checkedWith(program, { files, recordings: files.files(name), isNewest }, options);
}

interface Recorded {
  files: RecordingFiles;
  recordings: readonly string[];
  isNewest: boolean;
}

async function checkedWith(
  program: SavedProgram,
  { files, recordings, isNewest }: Recorded,
  options: CheckOptions,
): Promise<CheckedProgram> {
  if (!hasTurnTime()) await eventLoopTurn();
  const { name, code, input, calls, anyway } = program;
  const servers = options.tools.serversOf(program);
  const shapes = options.seen?.get(name);
  const job = {
    program: JSON.stringify({ name, code, input, calls }),
    servers: JSON.stringify(servers),
    ...(shapes ? { seen: JSON.stringify(shapes) } : {}),
    mayNotFit: !isNewest,
  };
  const found = recordings.length === 0 ? [await reasonsFor(job, "", options)] : [];
  for (const file of recordings) {
    const stamp = `${file} ${files.stampOf(file)}`;
    found.push(await reasonsFor(job, stamp, options, () => ({ file, text: files.text(file) })));
  }
  const reasons = eachOnce(found.flat());
  const isAcceptedAnyway = reasons.length > 0 && anyway === digestOfReasons(reasons);
  return { name, recordings: recordings.length, reasons, isAcceptedAnyway };
}

async function reasonsFor(
  job: Omit<CheckJob, "isFitKnown">,
  stamp: string,
  { signal }: CheckOptions,
  recording?: () => CheckJob["recording"],
): Promise<Reason[]> {
  const key = sha256(JSON.stringify([job, stamp]));
  const known = remembered.get(key);
  if (known) return known;
  signal?.throwIfAborted();
  const test = sha256(JSON.stringify([job.program, stamp]));
  const input = { ...job, isFitKnown: fitting.has(test), ...(recording ? { recording: recording() } : {}) };
  try {
    const { reasons, fits } = JSON.parse(await workers.run(input, { limitMs: checkMs, signal })) as Judgement;
    if (fitting.size >= maxRemembered) fitting.clear();
    if (fits) fitting.add(test);
    return remember(key, reasons);
  } catch (error) {
    if (error instanceof TookTooLong && !signal?.aborted) return remember(key, []);
    throw error;
  }
}

function remember(key: string, reasons: Reason[]): Reason[] {
  if (remembered.size >= maxRemembered) remembered.clear();
  remembered.set(key, reasons);
  return reasons;
}

/** Several recordings may call the same tool, and the text of the program names the calls that a recording has made. */
function eachOnce(reasons: readonly Reason[]): Reason[] {
  const tried = new Set(
    reasons.flatMap(({ effect, line }) => (effect === undefined || line === undefined ? [] : [line])),
  );
  const needed = reasons.filter(({ effect, line }) => effect !== undefined || line === undefined || !tried.has(line));
  return [...new Map(needed.map((each) => [`${each.tool} ${each.line} ${each.text}`, each])).values()];
}
