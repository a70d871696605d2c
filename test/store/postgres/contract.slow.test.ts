/** The store on Postgres, tested as every implementation of the store is. */
import { afterAll, beforeAll, describe, setDefaultTimeout } from "bun:test";
import { PostgresStore } from "../../../src/store/postgres/store.ts";
import { type PostgresFixture, postgresFixture, postgresNote } from "../../support/postgres.ts";
import { storeContract } from "../contract.ts";

setDefaultTimeout(60_000);

describe.skipIf(postgresNote !== "")(`on Postgres${postgresNote}`, () => {
  let server: PostgresFixture;
  let url: string;
  beforeAll(async () => {
    server = await postgresFixture();
    url = await server.database();
  });
  afterAll(() => server[Symbol.asyncDispose]());
  storeContract("the store contract", async () => {
    // Faster than another database.
    await server.run(url, "DROP SCHEMA IF EXISTS claudikins CASCADE");
    return { open: () => new PostgresStore(url), [Symbol.asyncDispose]: async () => {} };
  });
});
