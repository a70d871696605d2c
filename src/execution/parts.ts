/** The parts that programs and calls work with. */
import type { ToolCatalog } from "../catalog/tool-catalog.ts";
import type { Pool } from "../clients/pool.ts";
import type { Config } from "../config/load.ts";
import type { Ledger } from "../ledger/ledger.ts";

export interface Parts {
  config: Config;
  catalog: ToolCatalog;
  pool: Pool;
  ledger: Ledger;
}
