/** Caches a value until its stamp changes, because the page asks for it often. */
import type { Store } from "../store/store.ts";

/** Facts about processes are read again after this time, because the end of a process changes no file. */
const processesFreshMs = 2_000;

/** The stamp of the store and of the processes in it. `now` is in milliseconds, from any moment. */
export async function storeStamp(store: Pick<Store, "stamp">, now: number): Promise<string> {
  return `${await store.stamp()}\n${Math.floor(now / processesFreshMs)}`;
}

export class Cached<T> {
  #stamp: string | undefined;
  #value: T | undefined;

  /** Calls `read` only if the stamp has changed since the last call. */
  get(stamp: string, read: () => T): T {
    if (stamp !== this.#stamp) {
      this.#value = read();
      this.#stamp = stamp;
    }
    return this.#value as T;
  }
}
