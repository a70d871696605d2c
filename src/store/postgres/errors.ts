/** What an error of the database means, told without its address and its password: code in the sandbox may read the text. */
import { ClaudikinsError, messageOf, systemCodeOf } from "../../base/errors.ts";

/** The codes of Postgres, see "PostgreSQL Error Codes" in its documentation. */
const refused = ["28000", "28P01"];
const notThere = ["3D000"];
const noRights = ["42501"];
const full = ["53100", "53200"];
const readOnly = ["25006"];
const conflicts = ["40001", "40P01"];

/** The server ends, starts, has too many connections, has ended a transaction that stood still, or is a standby now. */
const passing = ["25P03", "53300", "57P01", "57P02", "57P03", "57P05", ...readOnly];

const lockNotAvailable = "55P03";

/** The server has given a statement up: it waited too long for a lock, or took too long. Nothing was done. */
const slow = [lockNotAvailable, "57014"];

const ofTls = /TLS|SSL|CERT|ALTNAME|UNABLE_TO_VERIFY/;

/** The code of a server's answer, Bun's code of an error of the connection, or OpenSSL's of a certificate that is not accepted. */
function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Bun.SQL.PostgresError)) return ofTls.exec(systemCodeOf(error) ?? "")?.input;
  return error.code === "ERR_POSTGRES_SERVER_ERROR" ? String(error.errno) : error.code;
}

/** Whether the connection failed. What was asked for may have been done, and another attempt may succeed. */
export function isLost(error: unknown): boolean {
  const code = codeOf(error) ?? "";
  return passing.includes(code) || /^08/.test(code) || /CONNECTION|TIMEOUT/.test(code);
}

/** Whether another transaction was in the way. Nothing was done. */
export function isConflict(error: unknown): boolean {
  return conflicts.includes(codeOf(error) ?? "");
}

/** Whether the server has ended a statement after its time. */
export function isSlow(error: unknown): boolean {
  return slow.includes(codeOf(error) ?? "");
}

/** Whether a statement has waited in vain, and not for a row: such a wait says where it was. */
export function waitedForNoRow(error: unknown): boolean {
  return error instanceof Bun.SQL.PostgresError && codeOf(error) === lockNotAvailable && error.where === undefined;
}

/** The error for a statement that would wait in vain for the lock of a table. */
export function waitsInVain(): Error {
  const server = { code: "ERR_POSTGRES_SERVER_ERROR", errno: lockNotAvailable };
  return new Bun.SQL.PostgresError("another program locks the table", server);
}

/** Our own code for a database that is connected and does not answer. */
const silent = "CLAUDIKINS_ANSWER_TIMEOUT";

/** The error for work that was not answered in time. Its connection counts as lost. */
export function noAnswer(): Error {
  return new Bun.SQL.PostgresError("The database does not answer", { code: silent });
}

/** The error for callers. */
export function databaseError(error: unknown): unknown {
  const code = codeOf(error);
  if (code === undefined) return error;
  const [message, hint] = explained(code, error);
  return unavailable(message, hint);
}

export function unavailable(message: string, hint: string): ClaudikinsError {
  return new ClaudikinsError("DATABASE_UNAVAILABLE", message, { hint });
}

const check = "Check CLAUDIKINS_DATABASE, and whether the database runs.";

function explained(code: string, error: unknown): [message: string, hint: string] {
  if (refused.includes(code) || /PASSWORD|AUTHENTICATION|SASL/.test(code)) {
    return ["The database refuses the user or the password of CLAUDIKINS_DATABASE", "Check both."];
  }
  if (notThere.includes(code)) {
    return ["The database that CLAUDIKINS_DATABASE names does not exist", "To create it: createdb <name>"];
  }
  if (noRights.includes(code)) {
    return [
      "The user of CLAUDIKINS_DATABASE has no right to use the schema claudikins",
      "To give it: GRANT CREATE ON DATABASE <name> TO <user>. The tables must belong to this user. An audit log with an account of its own is cut with that account.",
    ];
  }
  if (full.includes(code)) return ["The database has no room", "Free some on its server."];
  if (readOnly.includes(code)) {
    return ["The database can only be read", "CLAUDIKINS_DATABASE must name the primary server."];
  }
  if (ofTls.test(code)) {
    const certificate = "Check sslmode and sslrootcert in CLAUDIKINS_DATABASE, and the certificate of the server.";
    return ["The database cannot be reached with TLS", certificate];
  }
  if (slow.includes(code) || code === silent) {
    return [
      "The database has not answered in time: another program locks its tables, or it has too much to do",
      "Try again. To see who holds the lock: SELECT pid, query, pg_blocking_pids(pid) FROM pg_stat_activity.",
    ];
  }
  if (isLost(error)) return ["The database cannot be reached", check];
  // Its own words are not in the message, which callers over HTTP get.
  return ["The database has failed", `It says: ${messageOf(error)}. ${check}`];
}
