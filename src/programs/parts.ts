/** The parts that programs and calls work with. */

import type { Config } from "../config/load.ts";
import type { LabelSessions } from "../policy/flow/label-sessions.ts";
import type { Pool } from "../servers/pool.ts";
import type { Store } from "../store/store.ts";
import type { ToolCatalog } from "../tools/catalog/tool-catalog.ts";
import type { CallLog } from "./call-log/call-log.ts";
import type { Ledger } from "./ledger/ledger.ts";
import type { Telemetry } from "./telemetry.ts";

export interface Parts {
  config: Config;
  catalog: ToolCatalog;
  pool: Pool;
  ledger: Ledger;
  callLog: CallLog;
  store: Store;
  /** What the sessions of agents have read. */
  sessions: LabelSessions;
  /** Undefined if nothing is sent. */
  telemetry?: Telemetry | undefined;
}
