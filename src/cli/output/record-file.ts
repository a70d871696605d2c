/** `--record-file` and `--record-folder`: recordings for `claudikins mock`. */
import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { App } from "../../app/app.ts";
import { ClaudikinsError, messageOf, toClaudikinsError } from "../../base/errors.ts";
import { openLog } from "../../base/log.ts";
import { recordingText } from "../../programs/recordings/format.ts";
import { makeRecording } from "../../programs/recordings/make.ts";
import { RecordingFolder } from "../../programs/recordings/recording-folder.ts";
import type { CallTape } from "../../programs/recordings/tape.ts";
import type { CommandAnswer } from "../command.ts";
import type { Io } from "../io.ts";
import { dim } from "../terminal/terminal-output.ts";

/** Adds to the answer of a command what became of the recording. The outcome of the program is shown in any case. */
export async function withRecording(
  answer: CommandAnswer,
  file: string,
  { tape, code }: { tape: CallTape; code: string },
  app: App,
  io: Io,
): Promise<CommandAnswer> {
  try {
    const recording = await makeRecording({ taken: tape.taken(), code, isOk: !answer.failure }, app, io.interrupted);
    await written(resolve(io.cwd, file), recordingText(recording));
    return { ...answer, note: `${answer.note ?? ""}${dim(`[recording: ${file}]`)}\n` };
  } catch (error) {
    const { text, exitCode } = toClaudikinsError(error);
    return { ...answer, note: `${answer.note ?? ""}${text}\n`, exitCode: answer.failure?.exitCode ?? exitCode };
  }
}

/** Throws FILE_NOT_WRITABLE. */
async function written(file: string, text: string): Promise<void> {
  try {
    await writeFile(file, text, { mode: 0o600 });
  } catch (cause) {
    throw new ClaudikinsError("FILE_NOT_WRITABLE", `Cannot write ${file}: ${messageOf(cause)}`, { cause });
  }
}

/** The folder for the recordings of an agent's programs. Throws USAGE with --http, whose programs belong to several people, and FILE_NOT_WRITABLE. */
export async function openRecordings(
  folder: string,
  isHttp: boolean,
  { cwd, env }: Pick<Io, "cwd" | "env">,
): Promise<RecordingFolder> {
  if (isHttp) throw new ClaudikinsError("USAGE", "--record-folder cannot be used with --http");
  return new RecordingFolder(resolve(cwd, folder), await openLog(env["CLAUDIKINS_LOG"]));
}
