/** The recordings of the user's saved programs in one config, or in one door of it: a document for each. */
import { join } from "node:path";
import type { DocumentLock } from "../../base/documents.ts";
import { ClaudikinsError } from "../../base/errors.ts";
import type { SavedProgramsPlace } from "../../config/saved-programs-place.ts";
import { type Recording, readRecording, recordingText } from "./format.ts";

/** Recordings of one program. */
const maxRecordings = 20;

/** Characters of a recording in a database, because every replica has all documents in memory. */
const maxDatabaseChars = 500_000;

/** `NAME.recording.json` is the first recording, and `NAME.CASE.recording.json` another one. */
const form = /^([a-z0-9-]+)(?:\.([a-z0-9-]{1,64}))?\.recording\.json$/;

/** The name of the file. */
export function recordingFile(program: string, name: string | undefined): string {
  return `${program}${name === undefined ? "" : `.${name}`}.recording.json`;
}

/** The program and the name of the recording. Undefined for another file. */
export function recordingIn(file: string): { program: string; name: string | undefined } | undefined {
  const [, program, name] = form.exec(file) ?? [];
  return program === undefined ? undefined : { program, name };
}

/** Throws USAGE. */
export function requireRecordingName(name: string): void {
  if (recordingIn(recordingFile("a", name))) return;
  throw new ClaudikinsError("USAGE", `"${name}" cannot be the name of a recording`, {
    hint: "Use at most 64 lower-case letters, digits and dashes.",
  });
}

export class RecordingFiles {
  readonly #place: SavedProgramsPlace;
  readonly #folder: string;

  constructor(place: SavedProgramsPlace) {
    this.#place = place;
    this.#folder = join(place.folder, "recordings");
  }

  /** The files of a program, or of all programs, sorted. */
  files(program?: string): string[] {
    const all = this.#place.documents.namesIn(this.#folder).filter((file) => recordingIn(file));
    return program === undefined ? all : all.filter((file) => recordingIn(file)?.program === program);
  }

  /** Throws FILE_NOT_FOUND. */
  text(file: string): string {
    const text = this.#place.documents.read(join(this.#folder, file));
    if (text !== undefined) return text;
    throw new ClaudikinsError("FILE_NOT_FOUND", `The recording ${file} does not exist any more`);
  }

  /** A text that changes when the recording does. */
  stampOf(file: string): string {
    return this.#place.documents.stampOf(join(this.#folder, file));
  }

  /** Throws USAGE and VERSION_TOO_OLD for a recording that cannot be read. */
  read(file: string): Promise<Recording> {
    return readRecording(this.text(file), file);
  }

  /** The name of the next recording of a program. */
  nextName(program: string): string | undefined {
    const taken = new Set(this.files(program));
    if (!taken.has(recordingFile(program, undefined))) return undefined;
    for (let number = 2; ; number++) if (!taken.has(recordingFile(program, `${number}`))) return `${number}`;
  }

  /** Replaces a recording of that name. Returns its file. Throws USAGE, NOT_RECORDED and FILE_NOT_WRITABLE. */
  async write(program: string, name: string | undefined, recording: Recording): Promise<string> {
    const file = recordingFile(program, name);
    const text = recordingText(recording);
    const { documents } = this.#place;
    if (!documents.areFiles && text.length > maxDatabaseChars) {
      throw new ClaudikinsError(
        "NOT_RECORDED",
        `A recording in a database has at most ${maxDatabaseChars} characters`,
        {
          hint: "Record an execution with smaller results.",
        },
      );
    }
    await documents.alone(this.#lock, (changes) => {
      const others = this.files(program).filter((each) => each !== file);
      if (others.length >= maxRecordings) {
        throw new ClaudikinsError("USAGE", `"${program}" has ${maxRecordings} recordings already`, {
          hint: `To replace one, name it: claudikins programs record ${program} --as NAME`,
        });
      }
      changes.write(join(this.#folder, file), text);
    });
    return file;
  }

  /** Removes the recordings of a program. Throws FILE_NOT_WRITABLE. */
  async remove(program: string): Promise<void> {
    const files = this.files(program);
    if (files.length === 0) return;
    await this.#place.documents.alone(this.#lock, (changes) => {
      for (const file of files) changes.remove(join(this.#folder, file));
    });
  }

  get #lock(): DocumentLock {
    return { folder: this.#folder, lock: join(this.#folder, ".lock"), what: "the recordings" };
  }
}
