/** Runs a saved program, and keeps what it did as a recording for its tests: the same for the command line and the page. */
import type { JsonObject } from "../base/json-object.ts";
import type { ExecuteRequest } from "../programs/execute.ts";
import type { Recording } from "../programs/recordings/format.ts";
import { makeRecording } from "../programs/recordings/make.ts";
import { RecordingFiles } from "../programs/recordings/recording-files.ts";
import { CallTape } from "../programs/recordings/tape.ts";
import type { SavedProgram } from "../programs/saved/model.ts";
import { requestForNamed } from "../programs/saved/run.ts";
import type { Outcome } from "../sandbox/contract.ts";
import type { App } from "./app.ts";
import { outcomeInShell } from "./shell-execution.ts";

interface ToRecord extends Pick<ExecuteRequest, "limits" | "trace" | "onProgress"> {
  program: SavedProgram;
  input: JsonObject;
  /** The name of the recording. Undefined for the first one. */
  name: string | undefined;
  expect?: Record<string, JsonObject>;
}

/** Nothing is kept of a program that fails. Throws EXECUTION_WAITS, NOT_RECORDED, and what running and writing throw. */
export async function recordProgram(
  { program, input, name, expect, ...more }: ToRecord,
  app: App,
  signal: AbortSignal,
): Promise<{ failed: Outcome & { ok: false } } | { recording: Recording }> {
  const { savedPrograms: place } = app.config;
  const request = await requestForNamed(program.name, input, place);
  const tape = new CallTape();
  const outcome = await outcomeInShell({ ...request, ...more, tape }, app, signal);
  if (!outcome.ok) return { failed: outcome };
  const { code } = program;
  const wanted = { taken: tape.taken(), code, input, program: program.name, expect, isOk: true } as const;
  const recording = await makeRecording(wanted, app, signal);
  await new RecordingFiles(place).write(program.name, name, recording);
  return { recording };
}
