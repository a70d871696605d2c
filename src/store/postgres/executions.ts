/** Stored executions, as rows, for reading. */
import type {
  BriefExecution,
  CallPlace,
  ExecutionRows,
  StartedExecution,
  StoredExecution,
  WaitingPrograms,
} from "../executions.ts";
import type { ExecutionWriter } from "../jobs.ts";
import type { Connections } from "./connections.ts";
import type { Values } from "./querying.ts";

/** Without the request, which has the whole source of the program. */
const briefColumns =
  "id, config, state, owner, started_at, changed_at, wake_at, is_cancelled, is_wanted, engine, program IS NOT NULL AS is_saved, unsaved, is_ok, " +
  "CASE WHEN state = 'ended' AND NOT is_ok THEN left(outcome, 60) END AS ending";
const columns = `${briefColumns}, request`;

type Row<Execution> = Omit<Execution, "reason"> & { ending: string | null };

export class PostgresExecutions implements ExecutionRows {
  readonly #connections: Connections;
  readonly writer: () => ExecutionWriter;

  constructor(connections: Connections, writer: () => ExecutionWriter) {
    this.#connections = connections;
    this.writer = writer;
  }

  async get(id: string): Promise<StoredExecution | undefined> {
    return (await this.#where("id = $id", { id }))[0];
  }

  open(config: string | null): Promise<StoredExecution[]> {
    return this.#where("config IS NOT DISTINCT FROM $config AND state = 'open' AND unsaved IS NULL", { config });
  }

  list(config?: string | null): Promise<StoredExecution[]> {
    return this.#where(config === undefined ? "TRUE" : "config IS NOT DISTINCT FROM $config", { config });
  }

  async newest(config: string | null, count: number): Promise<BriefExecution[]> {
    const rows = await this.#all<Row<BriefExecution>>(
      `SELECT ${briefColumns} FROM claudikins.executions WHERE config IS NOT DISTINCT FROM $config
       ORDER BY started_at DESC LIMIT $count::int`,
      { config, count },
    );
    return rows.map(executionOf);
  }

  startedBy(client: string, which: "open" | "all" = "open"): Promise<StartedExecution[]> {
    const isOpen = which === "open" ? "state = 'open' AND" : "";
    return this.#all(
      `SELECT id, config, owner, started_at, changed_at FROM claudikins.executions
       WHERE ${isOpen} starts_with(client, $client)`,
      { client },
    );
  }

  waiting(): Promise<WaitingPrograms[]> {
    return this.#all(
      `SELECT config, engine, is_wanted, count(*)::int AS count FROM claudikins.executions
       WHERE state = 'open' AND program IS NOT NULL GROUP BY config, engine, is_wanted`,
    );
  }

  async program(id: string): Promise<Uint8Array | undefined> {
    const statement = "SELECT program FROM claudikins.executions WHERE id = $id";
    const [row] = await this.#all<{ program: Uint8Array | null }>(statement, { id });
    return row?.program ? new Uint8Array(row.program) : undefined;
  }

  callPlaces(id: string): Promise<CallPlace[]> {
    return this.#all(
      `SELECT call, state, namespace, "group", name, line FROM claudikins.calls WHERE execution = $id ORDER BY call`,
      { id },
    );
  }

  async cancelled(owner: string): Promise<string[]> {
    const statement = "SELECT id FROM claudikins.executions WHERE owner = $owner AND is_cancelled AND state = 'open'";
    return (await this.#all<{ id: string }>(statement, { owner })).map(({ id }) => id);
  }

  old(before: number): Promise<StoredExecution[]> {
    return this.#where(
      `changed_at < $before AND coalesce(wake_at, 0) < $before
       AND NOT EXISTS (SELECT FROM claudikins.approvals WHERE execution = executions.id AND state = 'open')`,
      { before },
    );
  }

  /** Newest first. */
  async #where(where: string, values: Values): Promise<StoredExecution[]> {
    const statement = `SELECT ${columns} FROM claudikins.executions WHERE ${where} ORDER BY started_at DESC`;
    return (await this.#all<Row<StoredExecution>>(statement, values)).map(executionOf);
  }

  #all<Found>(statement: string, values?: Values): Promise<Found[]> {
    return this.#connections.each((querying) => querying.all<Found>(statement, values));
  }
}

function executionOf<Execution extends { ending: string | null }>({
  ending,
  ...row
}: Execution): Omit<Execution, "ending"> & Pick<StoredExecution, "reason"> {
  return { ...row, reason: reasonIn(ending) };
}

/** The reason in the beginning of a failed outcome. The rest may be long, because it has the logs. */
function reasonIn(ending: string | null): string | undefined {
  const [, reason] = /^\{"ok":false,"reason":"([a-z]+)"/.exec(ending ?? "") ?? [];
  return reason;
}
