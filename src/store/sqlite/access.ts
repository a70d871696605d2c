/** How the rows of the store reach the database on the main thread. */
import type { Database } from "bun:sqlite";

export interface Access {
  readonly file: string;
  /** Runs `work`, or returns `empty` if nothing was ever stored. Throws FILE_NOT_WRITABLE and VERSION_TOO_OLD, as all methods. */
  read<T>(empty: T, work: (database: Database) => T): Promise<T>;
  /** Runs `work` as one transaction, once no other process writes. After a loss of power, the last writes may be missing. */
  write<T>(work: (database: Database) => T): Promise<T>;
}

/** Reads a table whose class is loaded with the first use. `empty` is the answer if nothing was ever stored. */
export function readerOf<Table>(access: Pick<Access, "read">, load: () => Promise<new (database: Database) => Table>) {
  let loading: ReturnType<typeof load> | undefined;
  return async <T>(empty: T, work: (table: Table) => T): Promise<T> => {
    loading ??= load();
    const TableOf = await loading;
    return access.read(empty, (database) => work(new TableOf(database)));
  };
}
