/** A real Postgres for tests: a server of its own in a temporary folder. Debian has it in `postgresql`. */
import { chownSync, existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { SQL } from "bun";
import { loadPostgres } from "../../src/store/open.ts";
import { cachedBuild, hashOf } from "./claudikins.ts";
import { freePort } from "./free-port.ts";
import { temporaryFolder } from "./temporary.ts";

/** The folder of its programs, of the newest version. */
export const postgresPrograms = programFolders().findLast((folder) => existsSync(join(folder, "initdb")));

function programFolders(): string[] {
  const initdb = Bun.which("initdb");
  const versions = existsSync("/usr/lib/postgresql") ? readdirSync("/usr/lib/postgresql") : [];
  const sorted = versions.sort((a, b) => Number(a) - Number(b)).map((each) => `/usr/lib/postgresql/${each}/bin`);
  return [...(initdb ? [join(initdb, "..")] : []), "/usr/local/bin", ...sorted];
}

/** It refuses to run as root. The user and the group `nobody` run it then. */
const isRoot = process.getuid?.() === 0;
const nobody = 65_534;
const asNobody = isRoot ? ["setpriv", `--reuid=${nobody}`, `--regid=${nobody}`, "--clear-groups"] : [];

/** Runs a program as the user who runs the server. A folder for the server belongs to `user`, if it is not our own. */
export const asServer = { words: asNobody, user: isRoot ? nobody : undefined };

/** For the titles of tests that are skipped. */
export const postgresNote =
  postgresPrograms === undefined
    ? " (skipped: needs Postgres, whose initdb was not found)"
    : isRoot && Bun.which("setpriv") === null
      ? " (skipped: needs setpriv, because Postgres does not run as root)"
      : "";

export const password = "a password of tests";

export interface PostgresFixture extends AsyncDisposable {
  /** Its port on 127.0.0.1, which wants the password. */
  port: number;
  /** The process that is the parent of all others of the server. It changes with a restart. */
  readonly pid: number;
  /** Makes an empty database. Returns its address. */
  database(): Promise<string>;
  /** Runs a statement, as an administrator. */
  run(url: string, statement: string): Promise<Record<string, unknown>[]>;
  /** The connections to a database end, as an administrator ends them. Returns how many there were. */
  cut(url: string): Promise<number>;
  /** Ends the server, and starts it again when the promise resolves. */
  restart(away?: Promise<unknown>): Promise<void>;
}

export async function postgresFixture(): Promise<PostgresFixture> {
  // Tests in this process open stores in it.
  await loadPostgres();
  const folder = temporaryFolder();
  if (isRoot) chownSync(folder.path, nobody, nobody);
  const data = join(folder.path, "data");
  copyData(newData(), data);
  const port = freePort();
  const options = `-k ${folder.path} -p ${port} -c listen_addresses=127.0.0.1 -c fsync=off -c max_connections=200`;
  const start = () => run("pg_ctl", "-D", data, "-o", options, "-l", join(folder.path, "log"), "-w", "start");
  const stop = () => run("pg_ctl", "-D", data, "-m", "fast", "-w", "stop");
  await start();
  const urlOf = (name: string) =>
    `postgres://postgres@localhost:${port}/${name}?host=${encodeURIComponent(folder.path)}`;
  const asAdministrator = async <T>(work: (sql: SQL) => Promise<T>): Promise<T> => {
    await using sql = new SQL(urlOf("postgres"), { max: 1 });
    return await work(sql);
  };
  return {
    port,
    get pid() {
      return Number(readFileSync(join(data, "postmaster.pid"), "utf8").split("\n")[0]);
    },
    database: async () => {
      const name = `test_${crypto.randomUUID().replaceAll("-", "")}`;
      await asAdministrator((sql) => sql.unsafe(`CREATE DATABASE ${name}`));
      return urlOf(name);
    },
    run: async (url, statement) => {
      await using sql = new SQL(url, { max: 1 });
      return [...(await sql.unsafe(statement))];
    },
    cut: (url) =>
      asAdministrator(async (sql) => {
        const rows =
          await sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = ${new URL(url).pathname.slice(1)}`;
        return rows.length;
      }),
    restart: async (away) => {
      await stop();
      await away;
      await start();
    },
    [Symbol.asyncDispose]: async () => {
      await stop();
      folder[Symbol.dispose]();
    },
  };
}

/** The data of a new server. They are made once and copied for each server: initdb takes 0.9 s of CPU, and a copy 0.1 s. */
function newData(): string {
  const version = Bun.spawnSync([join(postgresPrograms!, "initdb"), "--version"]).stdout;
  const hash = Bun.hash(`${version} ${isRoot} ${hashOf("test/support/postgres.ts")}`).toString(16);
  return cachedBuild(`postgres-${hash}`, (outfolder) => [join(import.meta.dir, "init-postgres.ts"), outfolder]);
}

/** The copy has the same owner and permissions. */
function copyData(from: string, to: string): void {
  const { success, stderr } = Bun.spawnSync(["cp", "-a", from, to]);
  if (!success) throw new Error(`the data of Postgres could not be copied: ${stderr}`);
}

export async function initPostgres(target: string): Promise<void> {
  // The user who runs it may not see the target.
  using folder = temporaryFolder();
  const passwordFile = folder.write("password", password);
  if (isRoot) for (const path of [folder.path, passwordFile]) chownSync(path, nobody, nobody);
  const data = join(folder.path, "data");
  await run(
    "initdb",
    "-D",
    data,
    "-U",
    "postgres",
    "--auth-local=trust",
    "--auth-host=scram-sha-256",
    "--no-sync",
    "-E",
    "UTF8",
    "--locale=C",
    `--pwfile=${passwordFile}`,
  );
  copyData(data, target);
}

async function run(program: string, ...args: string[]): Promise<void> {
  const child = Bun.spawn([...asNobody, join(postgresPrograms!, program), ...args], {
    cwd: "/",
    stdin: "ignore",
    stdout: "ignore",
    stderr: "pipe",
  });
  const [code, text] = await Promise.all([child.exited, child.stderr.text()]);
  if (code !== 0) throw new Error(`${program} has ended with ${code}: ${text}`);
}
