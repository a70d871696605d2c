/** The processes that use a store, as the others know them. */

/** A process that is alive for all others until this is disposed, or the process has died. */
export interface Owner extends AsyncDisposable {
  /** A random name, which no other process ever has. */
  readonly name: string;
}
