/** The audit log with an account of its own in Postgres: deploy/postgres/audit-account.sql. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { PostgresStore } from "../../../src/store/postgres/store.ts";
import { root } from "../../support/claudikins.ts";
import { claudikinsCommand } from "../../support/command.ts";
import { httpServe, sdkHost } from "../../support/http-serve.ts";
import { ownFolder } from "../../support/own-folder.ts";
import { type PostgresFixture, postgresFixture, postgresNote, postgresPrograms } from "../../support/postgres.ts";
import { runProgram } from "../../support/process.ts";

setDefaultTimeout(60_000);

const by = { user: "ada", place: "command" as const, pid: 7, terminal: false };

describe.skipIf(postgresNote !== "")(`an own account for the audit log${postgresNote}`, () => {
  const folder = ownFolder({ isShared: true });
  let server: PostgresFixture;
  let admin: string;
  const as = (user: string) => {
    const url = new URL(admin);
    url.username = user;
    return url.href;
  };
  const refused = (statement: string) =>
    server.run(as("team"), statement).then(
      () => "done",
      (error: Error) => error.message,
    );
  const give = () => {
    const file = join(root, "deploy", "postgres", "audit-account.sql");
    const words = ["--set=account=team", "--quiet", `--file=${file}`, admin];
    return runProgram([join(postgresPrograms!, "psql"), ...words]);
  };

  beforeAll(async () => {
    server = await postgresFixture();
    admin = await server.database();
    await server.run(admin, "CREATE ROLE team LOGIN");
    await server.run(admin, `GRANT CREATE ON DATABASE ${new URL(admin).pathname.slice(1)} TO team`);
    folder.write("claudikins.json", { mcpServers: {} });
    await using store = new PostgresStore(as("team"));
    await store.audit.add([{ decision: "denied", server: "a", tool: "old" }], by, 1_000);
    expect(await give()).toEqual({ exitCode: 0, stdout: "", stderr: "" });
    // A second time changes nothing.
    expect(await give()).toEqual({ exitCode: 0, stdout: "", stderr: "" });
    await server.run(admin, "ALTER ROLE claudikins_audit LOGIN");
  });
  afterAll(() => server[Symbol.asyncDispose]());

  test("lets a replica serve and add entries", async () => {
    const env = { CLAUDIKINS_DATABASE: as("team") };
    await using serve = await httpServe(folder, ["--lame-duck", "0s"], { env });
    await using host = await sdkHost(serve.url);
    expect(await host.execute("return 6 * 7")).toBe("42");
    await using store = new PostgresStore(as("team"));
    await store.audit.add([{ decision: "denied", server: "a", tool: "new" }], by);
    expect(await store.audit.lastPlace()).toBe(2);
  });

  test.each([
    "ALTER TABLE claudikins.audit DISABLE TRIGGER ALL",
    "ALTER TABLE claudikins.audit_end DISABLE TRIGGER ALL",
    "DROP TABLE claudikins.audit",
    "DROP SCHEMA claudikins CASCADE",
    "DELETE FROM claudikins.audit",
    "UPDATE claudikins.audit SET line = ''",
    "TRUNCATE claudikins.audit",
    "DELETE FROM claudikins.audit_end",
    "CREATE OR REPLACE FUNCTION claudikins.refuse() RETURNS TRIGGER LANGUAGE plpgsql AS 'BEGIN RETURN OLD; END'",
    "CREATE TRIGGER mine BEFORE INSERT ON claudikins.audit EXECUTE FUNCTION claudikins.refuse()",
    "ALTER TABLE claudikins.audit OWNER TO team",
    "SET ROLE claudikins_audit",
  ])("refuses to the account of claudikins: %s", async (statement) => {
    expect(await refused(statement)).toMatch(/must be owner|permission denied/);
  });

  test("cuts the log with the other account alone", async () => {
    const cut = (user: string) =>
      runProgram([...claudikinsCommand, "audit", "cut", "1d", "--yes"], {
        cwd: folder.path,
        env: { CLAUDIKINS_DATABASE: as(user), XDG_DATA_HOME: join(folder.path, "data") },
      });
    const own = await cut("team");
    expect([own.exitCode, own.stderr]).toEqual([4, expect.stringContaining("is cut with that account")]);
    expect(await cut("claudikins_audit")).toEqual({ exitCode: 0, stdout: "Removed 1 entry\n", stderr: "" });
    expect(await refused("DELETE FROM claudikins.audit")).toMatch(/permission denied/);
  });
});
