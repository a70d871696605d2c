/** Looks at everything that a storm has left: rows of the database, files, output, processes and calls. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { executable } from "../../../test/support/claudikins.ts";
import { processesLeft, runProgram, testEnvironment } from "../../../test/support/process.ts";
import type { Made } from "./disturber.ts";
import { peopleIn } from "./marks.ts";
import type { Oracle } from "./oracle.ts";
import type { Replicas } from "./replicas.ts";
import type { Site } from "./site.ts";

/** Tables whose rows belong to one person each, or to nobody. */
const tables = ["executions", "calls", "approvals", "audit", "records", "labels", "people"];

/** Nobody waits for an execution whose caller has not got its id before the replica died. It stays until it is old. */
const isLeft =
  "NOT is_wanted AND NOT EXISTS (SELECT FROM claudikins.owners WHERE name = owner AND expires_at > clock_timestamp())";

/** The executions that have not ended, with who asked for them. */
export async function openExecutions({ postgres, database }: Site): Promise<string[]> {
  const rows = await postgres.run(
    database,
    `SELECT id || ' of ' || coalesce(client, '?') AS text FROM claudikins.executions WHERE state <> 'ended' AND NOT (${isLeft})`,
  );
  return rows.map(({ text }) => String(text));
}

/** Everything that the database has of an execution, for a report. */
export async function rowsOf({ postgres, database }: Site, execution: string): Promise<string> {
  const id = execution.replaceAll(/[^\w-]/g, "");
  const rows = await postgres.run(
    database,
    `SELECT state, owner, is_wanted, is_cancelled, wake_at, client, left(outcome, 300) AS outcome, request::json -> 'starter' AS starter,
       (SELECT json_agg(sessions) FROM claudikins.sessions WHERE id = executions.request::json -> 'starter' ->> 'session') AS sessions,
       (SELECT json_agg(owners) FROM claudikins.owners WHERE name = executions.owner) AS owners,
       (SELECT json_agg(json_build_array(call, calls.state, name, answer IS NOT NULL)) FROM claudikins.calls WHERE execution = executions.id) AS calls,
       (SELECT json_agg(json_build_array(call, approvals.state, owner)) FROM claudikins.approvals WHERE execution = executions.id) AS approvals
     FROM claudikins.executions WHERE id = '${id}'`,
  );
  return JSON.stringify(rows);
}

/** The pages of a replica that died while it saved a program for the first time are removed with the next look, within an hour. */
export async function judgeRows(site: Site, oracle: Oracle, people: number): Promise<void> {
  const { postgres, database } = site;
  const numbers = new Map(Array.from({ length: people }, (_, person) => [site.personId(person), person]));
  for (const table of tables) {
    const rows = await postgres.run(database, `SELECT to_jsonb(each)::text AS text FROM claudikins.${table} each`);
    for (const { text } of rows as { text: string }[]) {
      oracle.noToken(`the table ${table}`, text);
      const marked = peopleIn(text);
      for (const [id] of text.matchAll(/\b[0-9a-f]{16}\b/g)) {
        const named = numbers.get(id);
        if (named !== undefined) marked.add(named);
      }
      if (marked.size > 1) oracle.fail(`a row of ${table} has data of several people`, text.slice(0, 400));
    }
  }
  const wrong = await postgres.run(
    database,
    `WITH kept AS (SELECT id FROM claudikins.executions WHERE state <> 'ended' AND ${isLeft} UNION SELECT execution FROM claudikins.saving)
     SELECT (SELECT count(*)::int FROM claudikins.approvals WHERE state = 'open' AND execution NOT IN (SELECT id FROM kept)) AS approvals,
       (SELECT count(*)::int FROM claudikins.calls WHERE execution NOT IN (SELECT id FROM kept)) AS calls,
       (SELECT count(*)::int FROM claudikins.pages WHERE execution NOT IN (SELECT id FROM kept)) AS pages`,
  );
  const { approvals, calls, pages } = wrong[0] as { approvals: number; calls: number; pages: number };
  if (approvals + calls + pages > 0) {
    oracle.fail("the database has rows of programs that are over", JSON.stringify({ approvals, calls, pages }));
  }
}

export async function judgeAudit(site: Site, oracle: Oracle): Promise<void> {
  const env = testEnvironment(site.env);
  const verified = await runProgram([executable(), "audit", "verify"], { cwd: site.folder.path, env });
  if (verified.exitCode !== 0) oracle.fail("the audit log is broken", verified.stderr.slice(0, 400));
}

/** The folder has the data, the workspaces and the generated files of all replicas. */
export function judgeFiles(site: Site, oracle: Oracle, people: number): void {
  const { path } = site.folder;
  const ids = new Map(Array.from({ length: people }, (_, person) => [site.personId(person), person]));
  const files = readdirSync(path, { recursive: true, withFileTypes: true }).filter((each) => each.isFile());
  for (const file of files) {
    const at = join(file.parentPath, file.name);
    const text = readFileSync(at, "latin1");
    oracle.noToken(`the file ${at}`, text);
    const marked = peopleIn(text);
    const [, id = ""] = /\/([0-9a-f]{16})\//.exec(at) ?? [];
    const owner = ids.get(id);
    if (owner !== undefined) marked.add(owner);
    if (marked.size > 1) oracle.fail(`the file ${at} has data of several people`, [...marked].join(", "));
    if (marked.size === 1 && owner === undefined) oracle.fail("a file with data of a person is not the person's", at);
  }
}

export function judgeOutput(replicas: Replicas, oracle: Oracle): void {
  const { output } = replicas;
  for (const line of output.split("\n"))
    if (/Cannot (?:save|store) the execution/.test(line)) oracle.saw("a program could not be saved", "stderr", line);
  oracle.noToken("stderr of a replica", output);
  if (peopleIn(output).size > 0) oracle.fail("stderr of a replica has data of people");
  const lines = output.split("\n");
  const wrong = /\b(?:TypeError|ReferenceError|SyntaxError|panic|Segmentation)\b/;
  const found = lines.flatMap((line, at) => (wrong.test(line) ? [lines.slice(at, at + 5).join("\n")] : []));
  for (const each of new Set(found)) oracle.fail("stderr", each);
}

/** Each refresh token is used once. A replica that was killed or frozen after it had used one could not store the answer. */
export function judgeRefreshes({ accounts }: Site, oracle: Oracle, made: readonly Made[]): void {
  const first = new Map<string, number>();
  for (const { token, at } of accounts.refreshed) {
    const before = first.get(token);
    first.set(token, before ?? at);
    if (before === undefined) continue;
    const slackMs = 5_000;
    const cause = made.find(({ from, to = from }) => from - slackMs <= at && to + slackMs >= before);
    if (cause) oracle.saw("a token was refreshed again after a disturbance", "own", "");
    else oracle.fail("a token was refreshed twice", `${at - before} ms apart`);
  }
}

export async function judgeProcesses({ folder }: Site, oracle: Oracle): Promise<void> {
  const deadline = Date.now() + 20_000;
  let left: number[];
  do {
    left = await processesLeft(folder.path, 500);
  } while (left.length > 0 && Date.now() < deadline);
  for (const pid of left) {
    oracle.fail("a process was left", readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " "));
    process.kill(pid, "SIGKILL");
  }
}

interface SeenCalls {
  far: readonly { tool: string; key: string }[];
  near: readonly { tool: string; key: string }[];
}

/** Compares the call log with what the servers got: for each person and tool, as many calls as have left. */
export async function judgeCallLog(site: Site, oracle: Oracle, seen: SeenCalls): Promise<void> {
  const count = (counts: Map<string, number>, what: string, more = 1) =>
    counts.set(what, (counts.get(what) ?? 0) + more);
  const got = new Map<string, number>();
  for (const { tool, key } of seen.far) count(got, `far.${tool} of p${[...peopleIn(key)].join(",")}`);
  for (const { tool, key } of seen.near) count(got, `near.${tool} of p${Math.floor(Number(key) / 1_000_000) - 1}`);
  const { rows, sent } = await loggedCalls(site);
  for (const what of new Set([...got.keys(), ...sent.keys()])) {
    const [left, arrived] = [sent.get(what) ?? 0, got.get(what) ?? 0];
    if (left !== arrived)
      oracle.fail("the call log differs from what a server got", `${what}: ${left} left, ${arrived} came`);
  }
  oracle.did(`compared ${rows} lines of the call log`);
}

async function loggedCalls({ postgres, database, personId, provider }: Site) {
  const numbers = new Map(
    Object.keys(provider.accounts).flatMap((subject) => {
      const [, number] = /^p(\d+)$/.exec(subject) ?? [];
      return number === undefined ? [] : [[personId(Number(number)), number]];
    }),
  );
  const found = await postgres.run(
    database,
    `SELECT person, server, tool, sum(sent)::int AS sent, count(*)::int AS rows FROM claudikins.call_log
     WHERE server IN ('far', 'near') GROUP BY person, server, tool`,
  );
  const sent = new Map<string, number>();
  let rows = 0;
  for (const row of found as { person: string; server: string; tool: string; sent: number; rows: number }[]) {
    rows += row.rows;
    if (row.sent > 0) sent.set(`${row.server}.${row.tool} of p${numbers.get(row.person)}`, row.sent);
  }
  return { rows, sent };
}
