/** The audit log, as a test looks at it and damages it. */
import { Database } from "bun:sqlite";
import { existsSync } from "node:fs";
import { storeFile } from "../../src/config/locations.ts";
import type { AuditLine } from "../../src/store/audit/event.ts";

/** The lines as they are stored, oldest first. */
export function auditTexts(file: string): string[] {
  if (!existsSync(file)) return [];
  using database = new Database(file, { readonly: true });
  const rows = database.query<{ line: string }, []>("SELECT line FROM audit ORDER BY place").all();
  return rows.map(({ line }) => line);
}

export function auditLines(env: Record<string, string | undefined>): AuditLine[] {
  return auditTexts(storeFile(env)).map((text) => JSON.parse(text));
}

/** Changes the log with statements, as somebody would who hides something. */
export function tamper(file: string, ...statements: string[]): void {
  using database = new Database(file);
  database.run("DROP TRIGGER IF EXISTS audit_is_not_changed");
  database.run("DROP TRIGGER IF EXISTS audit_is_not_cut");
  for (const statement of statements) database.run(statement);
}

/** From now on the log cannot be written, and the rest of the database can. */
export function blockAudit(file: string): void {
  using database = new Database(file);
  database.run("CREATE TRIGGER blocked BEFORE INSERT ON audit BEGIN SELECT RAISE(ABORT, 'blocked'); END");
}

export function unblockAudit(file: string): void {
  using database = new Database(file);
  database.run("DROP TRIGGER blocked");
}
