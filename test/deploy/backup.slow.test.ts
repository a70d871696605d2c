/** The commands of docs/backup.md, run as they are printed, with a real Postgres. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { blocksOf, pageAt } from "../docs/pages.ts";
import { claudikinsCommand } from "../support/command.ts";
import { eventually } from "../support/eventually.ts";
import { freePort } from "../support/free-port.ts";
import { httpServe, sdkHost } from "../support/http-serve.ts";
import { ownFolder } from "../support/own-folder.ts";
import {
  asServer,
  type PostgresFixture,
  postgresFixture,
  postgresNote,
  postgresPrograms,
} from "../support/postgres.ts";
import { runProgram, scriptOf, shellLine } from "../support/process.ts";
import { fixture } from "../support/servers.ts";
import { temporaryFolder } from "../support/temporary.ts";

setDefaultTimeout(120_000);

const missing = ["pg_dump", "psql"].find((name) => !existsSync(join(postgresPrograms ?? "", name)) && !Bun.which(name));
const note = postgresNote || (missing === undefined ? "" : ` (skipped: needs ${missing})`);

/** The blocks of the page, by how they begin. */
const blocks = blocksOf(pageAt("docs/backup.md")).map(({ text }) => text);
function block(beginning: RegExp): string {
  const found = blocks.filter((text) => beginning.test(text));
  if (found.length !== 1) throw new Error(`${found.length} blocks begin with ${beginning}`);
  return found[0]!;
}

describe.skipIf(note !== "")(`the commands of the page about backups${note}`, () => {
  const folder = ownFolder({ isShared: true });
  const at = (...path: string[]) => join(folder.path, ...path);
  let server: PostgresFixture;
  let database: string;
  let variables: Record<string, string>;

  beforeAll(async () => {
    server = await postgresFixture();
    database = await server.database();
    const [row] = await server.run(database, "SHOW data_directory");
    for (const path of [at("backup"), at("backup", "archive")]) {
      mkdirSync(path);
      if (asServer.user !== undefined) chownSync(path, asServer.user, asServer.user);
    }
    chmodSync(folder.path, 0o755);
    const restored = new URL(database);
    restored.pathname = "/restored";
    const config = { mcpServers: { seen: fixture("counting", at("calls")) }, doors: { qa: { servers: ["seen"] } } };
    variables = {
      DATABASE: database,
      RESTORED: restored.href,
      CONFIG: folder.write("claudikins.json", config),
      ARCHIVE: at("backup", "archive"),
      BASE: at("backup", "base"),
      PGDATA: String(row!["data_directory"]),
      PATH: `${at("bin")}:${postgresPrograms}:${process.env["PATH"]}`,
      XDG_DATA_HOME: at("data"),
    };
    scriptOf(claudikinsCommand, at("bin", "claudikins"));
    // Postgres does not run as root.
    const [ctl, base] = ["pg_ctl", "pg_basebackup"].map((name) => [...asServer.words, join(postgresPrograms!, name)]);
    scriptOf(base!, at("bin", "pg_basebackup"));
    // A second server needs another port. Without a log, it would keep our pipe open.
    const more = `-o "-k ${at("backup")} -p ${port} -c listen_addresses= -c fsync=off -c max_connections=200"`;
    const script = `case "$*" in *" start") set -- "$@" ${more} ;; esac\nexec ${shellLine(ctl!)} -l ${at("backup", "log")} "$@"`;
    folder.write("bin/pg_ctl", `#!/bin/sh\n${script}\n`);
    chmodSync(at("bin", "pg_ctl"), 0o755);
  });
  afterAll(async () => {
    if (existsSync(variables["BASE"]!)) await run('pg_ctl --pgdata="$BASE" -m immediate stop');
    await server?.[Symbol.asyncDispose]();
  });
  const port = freePort();

  async function run(script: string, more: Record<string, string> = {}): Promise<string> {
    const env = { ...variables, ...more };
    const { exitCode, stdout, stderr } = await runProgram(["sh", "-eu", "-c", script], { cwd: folder.path, env });
    expect({ script, exitCode, stderr: exitCode === 0 ? "" : stderr }).toEqual({ script, exitCode: 0, stderr: "" });
    return stdout;
  }
  const claudikins = (url: string, words: string) => run(`claudikins ${words}`, { CLAUDIKINS_DATABASE: url });
  const addToken = (name: string) => claudikins(database, `tokens add --config "$CONFIG" --name ${name}`);
  const tokensIn = (text: string) => ["one", "two", "three"].filter((name) => text.includes(name));
  const serveAt = (url: string) => {
    const env = { CLAUDIKINS_DATABASE: url, XDG_DATA_HOME: at("replica") };
    return httpServe(folder, ["--lame-duck", "0s"], { env });
  };
  const executions = async (url: string) =>
    (await server.run(url, "SELECT state, outcome::json->>'reason' AS reason FROM claudikins.executions")) as {
      state: string;
      reason: string;
    }[];

  test("a dump brings back what was there, and ends the programs that waited", async () => {
    await addToken("one");
    {
      await using serve = await serveAt(database);
      await using host = await sdkHost(serve.url);
      await using behind = await sdkHost(serve.url.replace(/mcp$/, "qa"));
      const code = 'await sleep("1h"); return seen.act({})';
      for (const { client } of [host, behind]) {
        await client.callTool({ name: "execute_code", arguments: { code, background: true } });
      }
      const saved = "SELECT DISTINCT execution FROM claudikins.pages";
      await eventually(async () => (await server.run(database, saved)).length === 2);
      await run(block(/^CLAUDIKINS_DATABASE="\$DATABASE" claudikins audit verify/));
      await addToken("two");
    }
    const { sha256 } = JSON.parse(readFileSync(at("audit-end.json"), "utf8"));
    await run(block(/^createdb/), { HASH: sha256 });
    const restored = variables["RESTORED"]!;
    expect(tokensIn(await run(block(/claudikins tokens list/)))).toEqual(["one"]);
    await run(block(/^psql --command="DELETE/));
    expect(await executions(restored)).toEqual(Array(2).fill({ state: "ended", reason: "cancelled" }));
    await using serve = await serveAt(restored);
    expect(existsSync(at("calls"))).toBe(false);
    await using host = await sdkHost(serve.url);
    expect(await host.execute("return 6 * 7")).toBe("42");
  });

  test("an archive brings back a moment", async () => {
    await run(block(/^psql .*<<END/));
    await addToken("three");
    const [row] = await server.run(database, "SELECT clock_timestamp()::text AS moment");
    await Bun.sleep(50);
    await claudikins(database, 'tokens revoke one --config "$CONFIG"');
    const [file] = await server.run(database, "SELECT pg_walfile_name(pg_switch_wal()) AS name");
    const archived = async () =>
      (await server.run(database, "SELECT last_archived_wal AS name FROM pg_stat_archiver"))[0];
    await eventually(async () => String((await archived())!["name"]) >= String(file!["name"]));
    await run(block(/^cat >> "\$BASE/), { MOMENT: String(row!["moment"]) });
    const there = new URL(database);
    there.port = String(port);
    there.searchParams.set("host", at("backup"));
    const list = 'tokens list --config "$CONFIG"';
    await eventually(async () => tokensIn(await claudikins(there.href, list)).length > 0);
    expect(tokensIn(await claudikins(there.href, list))).toEqual(["one", "two", "three"]);
    expect(tokensIn(await claudikins(database, list))).toEqual(["two", "three"]);
    expect(await claudikins(there.href, "audit verify")).toContain("The log holds");
  });
});

test("each delete marker of the bucket from after the dump is removed, with a stand-in for the AWS CLI", async () => {
  using folder = temporaryFolder();
  const script = block(/^aws s3api list-object-versions/);
  const removed = async (markers: string) => {
    folder.write("markers", markers);
    folder.write("removed", "");
    folder.write("bin/aws", '#!/bin/sh\ncase "$2" in list*) cat markers ;; *) echo "$*" >> removed ;; esac\n');
    chmodSync(join(folder.path, "bin", "aws"), 0o755);
    const env = { DUMPED: "2026-11-23T09:30", PATH: `${folder.path}/bin:${process.env["PATH"]}` };
    const { exitCode, stderr } = await runProgram(["sh", "-eu", "-c", script], { cwd: folder.path, env });
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    return readFileSync(join(folder.path, "removed"), "utf8");
  };
  expect(await removed("kept/one\tv1\nkept/t wo\tv2\n")).toBe(
    "s3api delete-object --bucket our-team --key kept/one --version-id v1\n" +
      "s3api delete-object --bucket our-team --key kept/t wo --version-id v2\n",
  );
  expect(await removed("")).toBe("");
  // The AWS CLI prints this if no object was ever removed.
  expect(await removed("None\n")).toBe("");
});
