/** A pool for each test of a file. The path of its folder marks the processes of its servers, which must all end with the test. */
import { afterEach, beforeEach, expect } from "bun:test";
import type { Pool, PoolOptions } from "../../src/servers/pool.ts";
import { openPool, type ServerEntry, surroundings } from "./pool.ts";
import { processesLeft } from "./process.ts";
import { type TemporaryFolder, temporaryFolder } from "./temporary.ts";

export interface OwnPool {
  readonly folder: TemporaryFolder;
  /** On the command line of every server of a test. */
  readonly mark: string;
  /** The pool that the test has opened. */
  readonly pool: Pool;
  open(entries: Record<string, ServerEntry>, more?: Partial<PoolOptions>): Pool;
}

export function ownPool(): OwnPool {
  let folder: TemporaryFolder;
  let pool: Pool | undefined;
  beforeEach(() => {
    folder = temporaryFolder();
  });
  afterEach(async () => {
    await pool?.close();
    pool = undefined;
    expect(await processesLeft(folder.path)).toEqual([]);
    folder[Symbol.dispose]();
  });
  return {
    get folder() {
      return folder;
    },
    get mark() {
      return folder.path;
    },
    get pool() {
      if (!pool) throw new Error("the test has opened no pool");
      return pool;
    },
    open(entries, more = {}) {
      pool = openPool(entries, { ...surroundings(folder.path), ...more });
      return pool;
    },
  };
}
