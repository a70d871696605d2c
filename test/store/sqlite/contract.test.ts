/** The store in one file does what every store must do. */

import { setDefaultTimeout } from "bun:test";
import { join } from "node:path";
import { SqliteStore } from "../../../src/store/sqlite/store.ts";
import { temporaryFolder } from "../../support/temporary.ts";
import { storeContract } from "../contract.ts";

setDefaultTimeout(60_000);

storeContract("SQLite", async () => {
  const folder = temporaryFolder();
  return {
    open: () => new SqliteStore(join(folder.path, "data", "executions.sqlite")),
    async [Symbol.asyncDispose]() {
      folder[Symbol.dispose]();
    },
  };
});
