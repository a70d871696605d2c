/**
 * Documents: texts that several processes read and change, each named by the path of its file in the user's data folder. They are files of
 * this machine, or rows of a database that several machines share. Reading is synchronous.
 */
import { chmodSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { ClaudikinsError, systemCodeOf } from "./errors.ts";
import { namesIn, readIfThere, removeFile, renameOver, stampOf, writeWhenChanged } from "./files.ts";
import { withLock } from "./lock.ts";

/** A lock, and the folder of the documents that it guards. */
export interface DocumentLock {
  folder: string;
  /** The path of its file. */
  lock: string;
  /** The guarded thing, as errors name it. */
  what: string;
  /** How long to wait for the lock. */
  waitMs?: number | undefined;
}

/** The changes that the holder of a lock makes. With a database, they are made together when the holder's work is done. */
export interface DocumentChanges {
  write(file: string, text: string): void;
  /**
   * Writes a text that must survive a loss of power, and that others must not read. No error has the path, because code in the sandbox may
   * read it.
   */
  writeSecret(file: string, text: string): void;
  rename(file: string, to: string): void;
  remove(file: string): void;
}

export interface Documents {
  /** Whether they are files of this machine. */
  readonly areFiles: boolean;
  /** Whether the documents can be read now. False while a database was not reached yet. */
  readonly areKnown: boolean;
  /**
   * Brings the documents of these folders up to date, and the documents that everyone needs. They stay up to date from then on. Throws
   * DATABASE_UNAVAILABLE and VERSION_TOO_OLD.
   */
  ready(folders?: readonly string[]): Promise<void>;
  /** Undefined if there is none. Throws FILE_NOT_FOUND, and what `ready` throws if a database was not reached yet. */
  read(file: string): string | undefined;
  /** The sorted names in a folder. Throws what `read` throws. */
  namesIn(folder: string): string[];
  /** A text that changes when the document is written, replaced or removed. For a folder, it changes with any document in it. */
  stampOf(path: string): string;
  /**
   * Runs `work` while no other process has the lock. It reads the documents of the folder as they are then. Throws FILE_NOT_WRITABLE,
   * DATABASE_UNAVAILABLE, CALL_TIMEOUT if the lock does not become free, and errors of `work`.
   */
  alone<T>(lock: DocumentLock, work: (changes: DocumentChanges) => T | Promise<T>): Promise<T>;
  /** Removes a folder with everything in it. Throws system errors, and DATABASE_UNAVAILABLE. */
  removeFolder(folder: string): Promise<void>;
}

/** `what` is the guarded thing, as errors name it. */
function fileChanges(what: string): DocumentChanges {
  return {
    write: (file, text) => void writeWhenChanged(file, text, undefined, 0o600),
    writeSecret: (file, text) => writeSecretFile(file, text, what),
    rename: (file, to) => pathless(() => renameOver(file, to), what),
    remove: removeFile,
  };
}

class FileDocuments implements Documents {
  readonly areFiles = true;
  readonly areKnown = true;

  async ready(): Promise<void> {}

  read(file: string): string | undefined {
    return readIfThere(file);
  }

  namesIn(folder: string): string[] {
    return namesIn(folder);
  }

  stampOf(path: string): string {
    return stampOf(path);
  }

  alone<T>({ lock, what, waitMs }: DocumentLock, work: (changes: DocumentChanges) => T | Promise<T>): Promise<T> {
    return withLock(lock, what, () => work(fileChanges(what)), waitMs);
  }

  async removeFolder(folder: string): Promise<void> {
    rmSync(folder, { recursive: true, force: true });
  }
}

export const fileDocuments: Documents = new FileDocuments();

function writeSecretFile(file: string, text: string, what: string): void {
  const folder = dirname(file);
  const temporary = `${file}.${process.pid}.tmp`;
  try {
    pathless(() => {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      chmodSync(folder, 0o700);
      // A process that was killed may have left its temporary file; this process has the lock, so no other one writes.
      rmSync(temporary, { force: true });
      writeFileSync(temporary, text, { mode: 0o600, flag: "wx", flush: true });
      renameOver(temporary, file);
    }, what);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

/** No error has a path, not even as its cause. */
function pathless(work: () => void, what: string): void {
  try {
    work();
  } catch (error) {
    const why = systemCodeOf(error) ?? "unknown error";
    throw new ClaudikinsError("FILE_NOT_WRITABLE", `Cannot write ${what}: ${why}`, {
      hint: "Check that claudikins can write to its data folder and that the disk is not full.",
    });
  }
}
