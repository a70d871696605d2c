/** Makes the data of a new Postgres: `bun test/support/init-postgres.ts <folder>`. */
import { initPostgres } from "./postgres.ts";

await initPostgres(process.argv[2] ?? "");
