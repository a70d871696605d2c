/** Records the programs of an agent into a folder: a recording for each program that has ended. */
import { mkdirSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ClaudikinsError, messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { atMost } from "../../base/time-limit.ts";
import type { ExecutionParts } from "../execute.ts";
import type { FollowedExecution } from "../execution/running-execution.ts";
import { recordingText } from "./format.ts";
import { makeRecording } from "./make.ts";
import { CallTape } from "./tape.ts";

/** Time for the last recording when the process ends. Agents wait about two seconds for the end. */
const lastRecordingMs = 1_000;

export class RecordingFolder implements AsyncDisposable {
  readonly #folder: string;
  readonly #log: Log;
  /** The last recording that is made. One is made after another, after the answer. */
  #making: Promise<void> = Promise.resolve();

  /** Makes the folder. Throws FILE_NOT_WRITABLE. */
  constructor(folder: string, log: Log) {
    this.#folder = folder;
    this.#log = log;
    try {
      mkdirSync(folder, { recursive: true });
    } catch (cause) {
      throw new ClaudikinsError("FILE_NOT_WRITABLE", `Cannot make the folder ${folder}: ${messageOf(cause)}`, {
        cause,
      });
    }
  }

  newTape(): CallTape {
    return new CallTape();
  }

  /** Writes the recording when the execution has ended. A program that cannot be recorded is a line of the log. */
  keep(execution: FollowedExecution, tape: CallTape, code: string, parts: ExecutionParts): void {
    const before = this.#making;
    const make = async () => {
      const outcome = await execution.outcome;
      await before;
      const recording = await makeRecording({ taken: tape.taken(), code, isOk: outcome.ok }, parts);
      const file = join(this.#folder, `${execution.id}.recording.json`);
      await writeFile(file, recordingText(recording), { mode: 0o600 });
    };
    this.#making = make().catch((error) => this.#log.warn(`${execution.id} was not recorded: ${messageOf(error)}`));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await atMost(lastRecordingMs, this.#making);
  }
}
