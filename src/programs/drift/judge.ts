/**
 * Judges one program: replays its recording as the tools would answer now, and says which change makes the program do something else. A change
 * of something that the program does not read is no reason.
 */
import { ClaudikinsError } from "../../base/errors.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import type { Difference } from "../recordings/compare.ts";
import { calledName, type Recording, readRecording } from "../recordings/format.ts";
import { type Replayed, replayed, type TestedProgram } from "../recordings/test-program.ts";
import { type DefinitionChange, definitionChanges } from "./changes.ts";
import type { CheckJob, CurrentServers, Judgement, Reason, SeenShapes } from "./contract.ts";
import { interned } from "./interned.ts";
import { wrongCalls } from "./text-check.ts";

/** Changes of the tools of one recording that are tried one by one. */
const maxTriedChanges = 30;

/** More changes are first tried together: most programs do not notice any. */
const maxTriedAtOnce = 3;

/** Differences of a test that are reasons. */
const maxTestReasons = 5;

export async function judged(job: CheckJob, sandbox: Sandbox): Promise<Judgement> {
  const written = JSON.parse(job.program) as TestedProgram;
  const program = { ...written, input: interned(written.input) };
  const servers = JSON.parse(job.servers) as CurrentServers;
  const { recording: file } = job;
  if (!file) return { reasons: await wrongCalls(program, servers), fits: true };
  const seen = JSON.parse(job.seen ?? "{}") as SeenShapes;
  const signal = new AbortController().signal;
  try {
    const recording = await readRecording(file.text, file.file);
    const replay = (changed: Recording) => replayed(program, changed, { sandbox, signal });
    const changes = await definitionChanges(recording, servers, seen);
    const trial = await tried(recording, changes, replay);
    // A program that does the same in spite of every change does the same without.
    const isFit = job.isFitKnown || (changes.length > 0 && trial.isSame);
    const differences = isFit ? [] : (await replay(recording)).differences;
    if (differences.length > 0) {
      return { reasons: job.mayNotFit ? [] : testReasons(differences, file.file), fits: false };
    }
    const wrong = mayBeWrong(program, recording, servers) ? await wrongCalls(program, servers) : [];
    return { reasons: [...trial.reasons, ...wrong], fits: true };
  } catch (error) {
    if (!(error instanceof ClaudikinsError)) throw error;
    return { reasons: job.mayNotFit ? [] : [{ recording: file.file, text: error.message }], fits: false };
  }
}

/** Whether the program may call a tool with other arguments than before, or one that the recording does not call. */
function mayBeWrong({ calls }: TestedProgram, recording: Recording, servers: CurrentServers): boolean {
  return calls.some((id) => {
    const server = Object.keys(servers).find((name) => id.startsWith(`${name}.`));
    if (server === undefined) return false;
    const name = id.slice(server.length + 1);
    const now = servers[server]?.tools.find((tool) => tool.name === name);
    const before = recording.servers[server]?.tools[name];
    return !now || !before || !Bun.deepEquals(now.inputSchema, before.inputSchema);
  });
}

function testReasons(differences: readonly Difference[], file: string): Reason[] {
  const shown = differences.slice(0, maxTestReasons);
  return shown.map(({ text }) => ({ recording: file, text: `Its test ${file} fails: ${text}` }));
}

interface Trial {
  reasons: Reason[];
  /** Whether the program has done the same each time. */
  isSame: boolean;
}

async function tried(
  recording: Recording,
  changes: readonly DefinitionChange[],
  replay: (changed: Recording) => Promise<Replayed>,
): Promise<Trial> {
  let isSame = true;
  const reasonFor = async (some: readonly DefinitionChange[]): Promise<Reason | undefined> => {
    const changed = withChanges(recording, some);
    if (changed === recording) return undefined;
    const { differences, made } = await replay(changed);
    isSame &&= differences.length === 0;
    const harm = differences.filter((each) => isHarm(each, some.some(isCertain)));
    // A failure says more than the values before it.
    const found = (harm.find(({ kind }) => kind === "failure") ?? harm[0])?.text;
    const [first] = some;
    if (found === undefined || !first) return undefined;
    // The error of a call that would fail is the change itself.
    const effect = found.replace(`: ${first.text}`, "");
    const line = made.find((each) => calledName(each) === first.tool && first.calls.has(each.known?.place ?? -1))?.line;
    return { tool: first.tool, line, text: some.map(({ text }) => text).join("; "), effect };
  };
  if (changes.length > maxTriedAtOnce && !(await reasonFor(changes))) return { reasons: [], isSame };
  const reasons: Reason[] = [];
  for (const change of changes.slice(0, maxTriedChanges)) {
    const reason = await reasonFor([change]);
    if (reason) reasons.push(reason);
  }
  if (reasons.length > 0 || changes.length < 2) return { reasons, isSame };
  const together = await reasonFor(changes);
  return { reasons: together ? [together] : [], isSame };
}

/** The same recording if nothing changes. */
function withChanges(recording: Recording, changes: readonly DefinitionChange[]): Recording {
  const calls = recording.calls.map((call, place) =>
    changes.reduce((now, { calls: places, answered }) => (places.has(place) && !now.error ? answered(now) : now), call),
  );
  return calls.every((call, place) => call === recording.calls[place]) ? recording : { ...recording, calls };
}

const isCertain = (change: DefinitionChange) => change.isCertain;

/**
 * A value that only may come about makes other values, which is no harm. A failure is, and so is another type, or a text with the mark of a value
 * that the program did not expect.
 */
function isHarm({ kind, expected, actual }: Difference, isCertain: boolean): boolean {
  return isCertain || kind === "failure" || kind === "type" || kind === "missing" || isMarked(actual, expected);
}

/** What JavaScript writes into a text for a value of another type. */
const marks = ["undefined", "null", "NaN", "Invalid Date", "[object Object]"];

function isMarked(actual: unknown, expected: unknown): boolean {
  if (typeof actual !== "string" || typeof expected !== "string") return false;
  return marks.some((mark) => actual.includes(mark) && !expected.includes(mark));
}
