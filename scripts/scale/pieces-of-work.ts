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
const idleMs = 10_000;

interface Piece {
  name: string;
  /** How often it is done, for a mean. */
  times: number;
  /** Whether all are done at the same time: a program that waits is answered late. */
  isTogether?: boolean;
  /** The code of the program, or work of another kind. */
  work: string | "decide" | "nothing";
}

const fs = `import fs from "node:fs/promises";\n`;
const file = (size: string, name = "notes.txt") => `${fs}await fs.writeFile("./workspace/${name}", ${size});`;

const pieces: readonly Piece[] = [
  { name: "a replica without work, in a second", times: idleMs / 1_000, work: "nothing" },
  { name: "a program that does not wait, without calls", times: 20, work: "return 1" },
  {
    ...{ name: "a program that does not wait, with 5 calls", times: 20 },
    work: "for (let call = 0; call < 5; call++) await counting.read({});",
  },
  { name: "a program that begins to wait, for a timer", times: 5, isTogether: true, work: `await sleep("1h")` },
  {
    ...{ name: "a program that begins to wait, for a decision", times: 5, isTogether: true },
    work: "return await counting.act({})",
  },
  { name: "a decision, and the rest of its program", times: 5, work: "decide" },
  { name: "a file of 1 KB that a program has written", times: 1, work: file(`"1234567 ".repeat(128)`) },
  { name: "the same file, changed", times: 1, work: file(`"7654321 ".repeat(128)`) },
  {
    name: "a program that changes no file",
    times: 5,
    work: `${fs}return await fs.readFile("./workspace/notes.txt", "utf8")`,
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

/** Does each piece of work at a replica with a Postgres of its own. Without `countsTransactions`, the transactions are not a number. */
export async function measurePieces({ countsTransactions, report }: MeasureOptions): Promise<MeasuredPiece[]> {
  await using server = await postgresFixture();
  const database = await server.database();
  // Otherwise the first change of a page after a checkpoint writes the whole page, whenever that is.
  await server.run(database, "ALTER SYSTEM SET full_page_writes = off");
  await server.run(database, "SELECT pg_reload_conf()");
  using folder = temporaryFolder();
  folder.write("claudikins.json", {
    mcpServers: { counting: fixture("counting", join(folder.path, "counts")) },
    policy: { confirm: { "counting.act": "always" } },
  });
  const env = { CLAUDIKINS_DATABASE: database };
  await using serve = await httpServe(folder, [], { env });
  await using host = await sdkHost(new URL("/mcp", serve.url).href);
  // What is done once for a session or a server belongs to no piece of work.
  await host.execute("return await counting.read({})");
  const measured: MeasuredPiece[] = [];
  for (const { name, times, work, isTogether } of pieces) {
    report(name);
    const settle = () => Bun.sleep(countsTransactions ? statisticsMs : writtenMs);
    await settle();
    const before = await databaseUse(server, database);
    const began = performance.now();
    if (work === "nothing") await Bun.sleep(idleMs);
    else if (work === "decide") await decideAll(folder.path, env, host, server, database);
    else if (isTogether) await Promise.all(Array.from({ length: times }, () => run(work, host)));
    else for (let time = 0; time < times; time++) await run(work, host);
    await settle();
    const after = await databaseUse(server, database);
    const idle = measured[0] ?? { walBytes: 0, transactions: 0 };
    const seconds = work === "nothing" ? 0 : (performance.now() - began) / 1_000;
    // What the replica does without work is taken off.
    const ofWork = {
      ...after,
      walBytes: after.walBytes - idle.walBytes * seconds,
      transactions: after.transactions - idle.transactions * seconds,
    };
    const used = usedBetween(before, ofWork, work === "nothing" ? (performance.now() - began) / 1_000 : times);
    measured.push({ name, ...used, ...(countsTransactions ? {} : { transactions: Number.NaN }) });
  }
  return measured;
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
