/** Keeps what was made of a document in a file, with the hashes of everything that was read. */
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isAbandoned } from "../../base/files.ts";
import { isObject, parsedJson } from "../../base/json-object.ts";
import { sha256 } from "../../base/sha256.ts";
import { dayMs } from "../../base/units.ts";
import { version } from "../../base/version.ts";
import { storedFormat } from "./stored-api.ts";

/** Time after which a file that nobody has used is removed. */
const keptApiMs = 30 * dayMs;

/** Hexadecimal digits in the name of a file. */
const nameChars = 32;

/** A document, and what it was like. */
export interface KeptRead {
  /** The place among the documents that the user has chosen: 0 is the first document, and the others are overlays. */
  chosen?: number;
  /** The address of a document that another one names. */
  named?: string;
  hash: string;
  etag?: string;
}

export interface Kept {
  reads: KeptRead[];
  bytes: Uint8Array;
}

interface FirstLine {
  made: string;
  reads: readonly KeptRead[];
}

/** Another version of claudikins makes other tools of the same document. */
const maker = `${version} ${storedFormat}`;

export class ApiCache {
  readonly #folder: string;
  readonly #path: string;
  /** The address of the folder of the first document, which may have a secret. */
  readonly #base: string;

  constructor(folder: string, options: object, root: URL) {
    this.#folder = folder;
    this.#path = join(folder, `openapi-${sha256(JSON.stringify(options)).slice(0, nameChars)}.jsonl`);
    this.#base = new URL(".", root).href;
  }

  read(): Kept | undefined {
    try {
      const file = readFileSync(this.#path);
      const end = file.indexOf(lineEnd);
      const first = parsedJson(file.toString("utf8", 0, end)) as FirstLine | undefined;
      if (end === -1 || !isObject(first) || first.made !== maker) return undefined;
      const reads = first.reads.map((read) =>
        read.named === undefined ? read : { ...read, named: this.#whole(read.named) },
      );
      return { reads, bytes: file.subarray(end + 1) };
    } catch {
      return undefined;
    }
  }

  /** An API that cannot be kept is made again the next time. */
  write(reads: readonly KeptRead[], bytes: Uint8Array): void {
    const temporary = `${this.#path}.${process.pid}.${++written}.tmp`;
    try {
      mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
      this.#removeOld();
      const line = JSON.stringify({ made: maker, reads } satisfies FirstLine);
      writeFileSync(temporary, Buffer.concat([Buffer.from(`${line}\n`), bytes]), { mode: 0o600, flag: "wx" });
      renameSync(temporary, this.#path);
    } catch {
      rmSync(temporary, { force: true });
    }
  }

  /** Says that the file was used. */
  touch(): void {
    try {
      if (Date.now() - statSync(this.#path).mtimeMs > dayMs) utimesSync(this.#path, new Date(), new Date());
    } catch {
      // The file was read: at most it is removed too early.
    }
  }

  /** The address of a document, without the part that it shares with the first one. */
  shortened(url: string): string {
    return url.startsWith(this.#base) ? `./${url.slice(this.#base.length)}` : url;
  }

  #whole(named: string): string {
    return named.startsWith("./") ? this.#base + named.slice(2) : named;
  }

  #removeOld(): void {
    for (const name of readdirSync(this.#folder).filter((each) => each.startsWith("openapi-"))) {
      const path = join(this.#folder, name);
      const age = Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
      if (isAbandoned(name) || age > keptApiMs) rmSync(path, { force: true });
    }
  }
}

const lineEnd = 0x0a;

let written = 0;
