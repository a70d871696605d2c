/** Keeps what was read of files until their stamp changes, because the page asks for it often. */

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
