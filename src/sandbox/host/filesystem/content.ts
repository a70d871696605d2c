/** The contents of files: reads through a checked descriptor, replaces as a whole, or appends. */
import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  futimesSync,
  openSync,
  readSync,
  renameSync,
  type Stats,
  unlinkSync,
  writeSync,
} from "node:fs";
import { systemCodeOf } from "../../../base/errors.ts";
import { type FolderEntry, noFollow } from "../../../base/open-folder.ts";
import { FileRefusal, linkFault } from "./fault.ts";
import { temporaryName } from "./path.ts";
import { kindOf } from "./stats.ts";

const { O_APPEND, O_CREAT, O_EXCL, O_NOCTTY, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;

/** Opens without blocking, because opening a pipe without a writer would never end. */
const careful = noFollow | O_NONBLOCK | O_NOCTTY;

/** Reads the whole file. Throws EFBIG above `maxBytes`, ENOENT, EISDIR, and EACCES for links and special files. */
export function readBytes(place: FolderEntry, maxBytes: number): Buffer {
  const found = place.find();
  if (!found) throw new FileRefusal("ENOENT");
  using file = openChecked(place, O_RDONLY);
  if (file.stats.size > maxBytes) throw tooBig(file.stats.size, maxBytes);
  const chunks: Buffer[] = [];
  let length = 0;
  for (;;) {
    // Reading one byte more than the known size detects the end. A file that grows meanwhile is read on.
    const chunk = Buffer.allocUnsafe(Math.max(file.stats.size - length + 1, 65_536));
    const read = readSync(file.fd, chunk);
    if (read === 0) return chunks.length === 1 ? (chunks[0] ?? chunk) : Buffer.concat(chunks);
    chunks.push(chunk.subarray(0, read));
    length += read;
    if (length > maxBytes) throw tooBig(length, maxBytes);
  }
}

/** Reads a file in parts of this size. The last one is smaller. Throws as `readBytes` does. */
export function* readParts(place: FolderEntry, partBytes: number, maxBytes: number): Generator<Buffer> {
  if (!place.find()) throw new FileRefusal("ENOENT");
  using file = openChecked(place, O_RDONLY);
  for (let length = 0; ; ) {
    const part = Buffer.allocUnsafe(partBytes);
    let filled = 0;
    for (let read = 1; read > 0 && filled < partBytes; filled += read)
      read = readSync(file.fd, part, { offset: filled });
    length += filled;
    if (length > maxBytes) throw tooBig(length, maxBytes);
    if (filled > 0) yield part.subarray(0, filled);
    if (filled < partBytes) return;
  }
}

/** Replaces or creates a file atomically: other processes see the old contents or the new ones. */
export function replaceFile(place: FolderEntry, bytes: Uint8Array): void {
  using file = new NewFile(place);
  file.write(bytes);
  file.finish();
}

/** A file that is written in parts, beside the one that it replaces at its end. Nothing remains of a file that is not finished. */
export class NewFile implements Disposable {
  readonly #place: FolderEntry;
  readonly #path: string;
  readonly #fd: number;
  #isOpen = true;
  #isDone = false;

  /** Throws EISDIR, and EACCES for links and special files. */
  constructor(place: FolderEntry) {
    const found = place.find();
    if (found) checkFile(found, true);
    this.#place = place;
    this.#path = place.folder.at(temporaryName());
    this.#fd = openSync(this.#path, O_WRONLY | O_CREAT | O_EXCL | careful, 0o666);
  }

  write(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; ) at += writeSync(this.#fd, bytes, at);
  }

  /** `changedAt`: the time of its last change, in milliseconds since 1970. */
  finish(changedAt?: number): void {
    const found = this.#place.find();
    if (found) {
      checkFile(found, true);
      fchmodSync(this.#fd, found.mode & 0o777);
    }
    if (changedAt !== undefined) futimesSync(this.#fd, changedAt / 1_000, changedAt / 1_000);
    // Windows renames no file that is open.
    this.#close();
    this.#place.folder.verify();
    renameSync(this.#path, this.#place.path);
    this.#isDone = true;
  }

  #close(): void {
    if (this.#isOpen) closeSync(this.#fd);
    this.#isOpen = false;
  }

  [Symbol.dispose](): void {
    this.#close();
    if (!this.#isDone) unlinkSync(this.#path);
  }
}

/** Creates a file atomically. If several processes try, one succeeds. Throws EEXIST. */
export function createFile(place: FolderEntry, bytes: Uint8Array): void {
  // An empty file reserves the name first. A rename alone would not detect that another process created the file.
  closeSync(openSync(place.path, O_WRONLY | O_CREAT | O_EXCL | careful, 0o666));
  try {
    replaceFile(place, bytes);
  } catch (error) {
    unlinkSync(place.path);
    throw error;
  }
}

/** Appends in a single write, so that the data of concurrent writers is not mixed. */
export function appendBytes(place: FolderEntry, bytes: Uint8Array): void {
  using file = openChecked(place, O_WRONLY | O_APPEND | O_CREAT);
  if (bytes.length > 0 && writeSync(file.fd, bytes) < bytes.length) throw new FileRefusal("ENOSPC");
}

/** Throws unless it is a regular file. Also refuses hard links, unless `otherNames` is true because the file is only replaced. */
export function checkFile(stats: Stats, otherNames = false): void {
  const kind = kindOf(stats);
  if (kind === "folder") throw new FileRefusal("EISDIR");
  if (kind === "link") throw linkFault();
  if (kind === "other") throw new FileRefusal("EACCES", "a pipe, socket or device, not a file");
  if (stats.nlink > 1 && !otherNames)
    throw new FileRefusal(
      "EACCES",
      "the file has hard links, which may lead elsewhere",
      "Use a file without hard links.",
    );
}

export function tooBig(bytes: number, maxBytes: number): FileRefusal {
  return new FileRefusal("EFBIG", `${megabytes(bytes)}; the limit is ${megabytes(maxBytes)}`);
}

export function megabytes(bytes: number): string {
  return bytes < 1_048_576 ? `${bytes} bytes` : `${Math.floor(bytes / 104_857.6) / 10} MB`;
}

function openChecked(place: FolderEntry, flags: number): { fd: number; stats: Stats } & Disposable {
  // Checked before opening, because opening a device can already have effects.
  const before = place.find();
  if (before) checkFile(before);
  const fd = open(place.path, flags | careful);
  try {
    const stats = fstatSync(fd);
    checkFile(stats);
    place.folder.verify();
    return { fd, stats, [Symbol.dispose]: () => closeSync(fd) };
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

function open(path: string, flags: number): number {
  try {
    return openSync(path, flags, 0o666);
  } catch (error) {
    // The entry was replaced after the check.
    if (systemCodeOf(error) === "ELOOP") throw linkFault();
    if (systemCodeOf(error) === "ENXIO") throw new FileRefusal("EACCES", "a pipe, socket or device, not a file");
    throw error;
  }
}
