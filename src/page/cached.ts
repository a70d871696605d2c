/** Keeps what was read of files until their stamp changes, because the page asks for it often. */
import { stampOf } from "../base/files.ts";
import { processesFreshMs } from "./limits.ts";

/** The stamp of the database and of the processes in it. `now` is in milliseconds, from any moment. */
export function databaseStamp(file: string, now: number): string {
  return [stampOf(file), stampOf(`${file}-wal`), Math.floor(now / processesFreshMs)].join("\n");
}

export class Cached<T> {
  #stamp: string | undefined;
  #value: T | undefined;

  /** `read` is called only if the stamp is another one than last time. */
  get(stamp: string, read: () => T): T {
    if (stamp !== this.#stamp) {
      this.#value = read();
      this.#stamp = stamp;
    }
    return this.#value as T;
  }
}
