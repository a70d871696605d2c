/** Pieces of work that a replica does with its database, each measured alone. */
import { join } from "node:path";
import { cli } from "../../test/cli/in-memory.ts";
import { eventually } from "../../test/support/eventually.ts";
import { httpServe, type SdkHost, sdkHost } from "../../test/support/http-serve.ts";
import { type PostgresFixture, postgresFixture } from "../../test/support/postgres.ts";
import { fixture } from "../../test/support/servers.ts";
import { temporaryFolder } from "../../test/support/temporary.ts";
import { type DatabaseUse, databaseUse, statisticsMs, usedBetween } from "./database-use.ts";

/** Time after which the records and the call log of a program are written. */
const writtenMs = 2_500;

/** How long a replica without work is watched. */
const idleMs = 5_000;

interface Piece {
  name: string;
  /** How often it is done, for a mean. */
  times: number;
  /** For programs that wait, which are begun at the same time: the table that has a row for each of them then. */
  table?: string;
  /** The code of the program, or work of another kind. */
  work: string | "decide" | "nothing";
}

const fs = `import fs from "node:fs/promises";\n`;
const kilobyte = `("1234567 ".repeat(127) + Math.random()).slice(0, 1024)`;

const pieces: readonly Piece[] = [
  { name: "a replica without work, in a second", times: 1, work: "nothing" },
  { name: "a program that does not wait, without calls", times: 200, work: "return 1" },
  {
    ...{ name: "a program that does not wait, with 5 calls", times: 200 },
    work: "for (let call = 0; call < 5; call++) await counting.read({});",
  },
  { name: "a program that begins to wait, for a timer", times: 5, table: "executions", work: `await sleep("1h")` },
  {
    ...{ name: "a program that begins to wait, for a decision", times: 5, table: "approvals" },
    work: "return await counting.act({})",
  },
  { name: "a decision, and the rest of its program", times: 5, work: "decide" },
  {
    ...{ name: "a file of 1 KB that a program has written", times: 10 },
    work: `${fs}await fs.writeFile("./workspace/notes" + Math.random(), ${kilobyte});`,
  },
  {
    ...{ name: "the same file, changed", times: 10 },
    work: `${fs}const [name] = await fs.readdir("./workspace"); await fs.writeFile("./workspace/" + name, ${kilobyte});`,
  },
  {
    name: "a program that changes no file",
    times: 5,
    work: `${fs}return await fs.readdir("./workspace")`,
  },
  {
    ...{ name: "10 MB that cannot be compressed", times: 1 },
    work: `${fs}for (let part = 0; part < 10; part++) {
  const bytes = new Uint8Array(1048576);
  for (let at = 0; at < bytes.length; at += 65536) crypto.getRandomValues(bytes.subarray(at, at + 65536));
  await fs.writeFile("./workspace/random" + part, bytes);
}`,
  },
  {
    ...{ name: "1,000 small files at once", times: 1 },
    work: `${fs}for (let file = 0; file < 1000; file++) await fs.writeFile("./workspace/small" + file, "file " + file);`,
  },
];

export interface MeasuredPiece extends DatabaseUse {
  name: string;
}

interface MeasureOptions {
  /** Whether transactions are counted. Each piece takes 11 seconds longer then. */
  countsTransactions: boolean;
  /** Gets the name of each piece before it is done. */
  report(name: string): void;
}

/**
 * Does each piece of work at a replica with a Postgres of its own. The transactions are not a number without `countsTransactions`, and for what is
 * done once, because a replica without work has some, too.
 */
export async function measurePieces({ countsTransactions, report }: MeasureOptions): Promise<MeasuredPiece[]> {
  await using server = await postgresFixture();
  const database = await server.database();
  // Otherwise the first change of a page after a checkpoint writes the whole page, whenever that is, and Postgres cleans up whenever it likes.
  await server.run(database, "ALTER SYSTEM SET full_page_writes = off");
  await server.run(database, "ALTER SYSTEM SET autovacuum = off");
  await server.run(database, "SELECT pg_reload_conf()");
  using folder = temporaryFolder();
  folder.write("claudikins.json", {
    mcpServers: { counting: fixture("counting", join(folder.path, "counts")) },
    policy: { confirm: { "counting.act": "always" } },
  });
  const env = { CLAUDIKINS_DATABASE: database };
  await using serve = await httpServe(folder, [], { env });
  await using host = await sdkHost(new URL("/mcp", serve.url).href);
  // The first program also opens the session and starts the server. It is not measured.
  await host.execute("return await counting.read({})");
  const settle = () => Bun.sleep(countsTransactions ? statisticsMs : writtenMs);
  // The transactions of the start must not be those of the first piece.
  for (let time = 0; time < 2; time++) await settle();
  const measured: MeasuredPiece[] = [];
  let before = await databaseUse(server, database);
  for (const { name, times, work, table } of pieces) {
    report(name);
    const began = performance.now();
    if (work === "nothing") await Bun.sleep(idleMs);
    else if (work === "decide") await decideAll(folder.path, env, host, server, database);
    else if (table !== undefined) await begin(work, times, host, () => rowsOf(table, server, database));
    else for (let time = 0; time < times; time++) await run(work, host);
    await settle();
    const after = await databaseUse(server, database);
    const seconds = (performance.now() - began) / 1_000;
    // The work of an idle replica is taken off.
    const idle = measured[0];
    const taken = idle
      ? { walBytes: idle.walBytes * seconds, transactions: idle.transactions * seconds }
      : { walBytes: 0, transactions: 0 };
    const ofWork = {
      ...after,
      walBytes: after.walBytes - taken.walBytes,
      transactions: after.transactions - taken.transactions,
    };
    const used = usedBetween(before, ofWork, idle ? times : seconds);
    const isCounted = countsTransactions && (times > 1 || work === "nothing");
    measured.push({ name, ...used, ...(isCounted ? {} : { transactions: Number.NaN }) });
    before = after;
  }
  return measured;
}

/** Begins programs that wait, without their answers, until each has its row. */
async function begin(code: string, times: number, host: SdkHost, rows: () => Promise<number>): Promise<void> {
  const known = await rows();
  // They are answered late, or when the host ends.
  for (let time = 0; time < times; time++) host.execute(code).catch(() => {});
  await eventually(async () => (await rows()) >= known + times, { everyMs: 100 });
}

async function rowsOf(table: string, server: PostgresFixture, database: string): Promise<number> {
  const [row] = await server.run(database, `SELECT count(*)::int AS rows FROM claudikins."${table}"`);
  return Number(row!["rows"]);
}

async function run(code: string, host: SdkHost): Promise<void> {
  const answer = await host.execute(code);
  if (/Error/.test(answer)) throw new Error(`the program failed: ${answer}`);
}

/** Approves everything that waits, and waits until the programs have ended. */
async function decideAll(
  cwd: string,
  env: Record<string, string>,
  host: SdkHost,
  server: PostgresFixture,
  database: string,
): Promise<void> {
  const waiting = await server.run(database, "SELECT id, execution FROM claudikins.approvals WHERE state = 'open'");
  if (waiting.length === 0) throw new Error("no program waits for a decision");
  for (const { id } of waiting) {
    const { exitCode, stderr } = await cli(["approvals", "approve", String(id)], {
      cwd,
      env,
      terminal: true,
      answers: ["y"],
    });
    if (exitCode !== 0) throw new Error(stderr);
  }
  for (const { execution } of waiting)
    await eventually(async () => !/waits/.test(await host.resume(String(execution))));
}
