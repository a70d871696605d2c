/** Tests a saved program: replays its recordings, and says what has changed. */
import { ClaudikinsError, toClaudikinsError } from "../../base/errors.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import { argumentProblems } from "../../tools/arguments/argument-problems.ts";
import { codeWithInput } from "../saved/inputs.ts";
import type { SavedProgram } from "../saved/model.ts";
import { requirePermission } from "../saved/permissions.ts";
import { type Difference, differencesIn, hasSameValue } from "./compare.ts";
import { Expectations } from "./expectations.ts";
import { type Recording, seedIn } from "./format.ts";
import { type MadeCall, Replay } from "./replay.ts";
import { type ReplayableCall, replayableCalls } from "./replayable.ts";

export type TestedProgram = Pick<SavedProgram, "name" | "code" | "input" | "calls">;

export interface Tested {
  program: string;
  /** The file of the recording. */
  recording: string;
  ok: boolean;
  durationMs: number;
  differences: Difference[];
  /** Why the recording cannot be replayed. */
  problem?: string | undefined;
}

interface KeptRecording {
  /** The name of its file. */
  file: string;
  /** Throws if it cannot be read. */
  read(): Promise<Recording>;
}

/** Replays the recordings of one program, one after another. */
export async function testProgram(
  program: TestedProgram,
  recordings: readonly KeptRecording[],
  options: { sandbox: Sandbox; signal: AbortSignal },
): Promise<Tested[]> {
  const tests: Tested[] = [];
  for (const { file, read } of recordings) tests.push(await testRecording(program, file, read, options));
  return tests;
}

/** Replays one recording. `read` throws if it cannot be read. */
export async function testRecording(
  program: TestedProgram,
  file: string,
  read: () => Promise<Recording>,
  { sandbox, signal }: { sandbox: Sandbox; signal: AbortSignal },
): Promise<Tested> {
  const startedAt = performance.now();
  const about = { program: program.name, recording: file };
  const durationMs = () => Math.round(performance.now() - startedAt);
  try {
    const { differences } = await replayed(program, await read(), { sandbox, signal });
    return { ...about, ok: differences.length === 0, durationMs: durationMs(), differences };
  } catch (error) {
    const { code, message } = toClaudikinsError(error);
    if (code === "UNEXPECTED" || code === "CANCELLED") throw error;
    return { ...about, ok: false, durationMs: durationMs(), differences: [], problem: message };
  }
}

export interface Replayed {
  differences: Difference[];
  /** The calls that the program has made. */
  made: readonly MadeCall<ReplayableCall>[];
}

/** Replays a recording. Throws INVALID_ARGUMENTS if its input is not valid any more, and CANCELLED. */
export async function replayed(
  { name, code, input, calls }: TestedProgram,
  recording: Recording,
  { sandbox, signal }: { sandbox: Sandbox; signal: AbortSignal },
): Promise<Replayed> {
  const given = recording.input ?? {};
  const problems = await argumentProblems(input, given);
  if (problems.length > 0) {
    throw new ClaudikinsError(
      "INVALID_ARGUMENTS",
      `The input of the recording is not valid any more: ${problems.join("; ")}`,
    );
  }
  const expectations = new Expectations(recording.expect);
  const { startsAt, seed, servers } = recording;
  const replay = new Replay<ReplayableCall>({
    startsAt: Date.parse(startsAt),
    seed: seedIn(seed),
    servers: Object.entries(servers).map(([server, about]) => ({ name: server, jsName: about.name })),
    calls: replayableCalls(recording),
    isSame: (known, args) => hasSameValue(known.args, args, ["calls", known.place, "arguments"], expectations),
    permit: (call, tool) => {
      if (call.namespace !== "") requirePermission({ name, calls, depth: 1 }, call, tool);
    },
  });
  const outcome = await replay.run(codeWithInput(code, given), sandbox, signal);
  if (signal.aborted) throw new ClaudikinsError("CANCELLED", "The tests were interrupted");
  return { differences: await differencesIn(recording, replay, outcome, expectations), made: replay.made };
}
