/** The report of gen, and its error. */
import { relative } from "node:path";
import { ClaudikinsError, type Problem } from "../errors.ts";
import type { GenerateReport, RegistryCheck } from "../generation/generate.ts";
import { isIdentifier } from "../registry/names.ts";
import { hasColours } from "./colours.ts";
import type { Io } from "./io.ts";
import { errorText } from "./report.ts";
import { about, either, list, named, number, oneOf, problem, record, text, texts } from "./shapes.ts";
import { table } from "./table.ts";

const differences = list(named("Difference", record({ path: text, state: oneOf("missing", "stale", "extra") })));
const asked = { server: text, tools: number, durationMs: number, "problem?": problem };

export const genShape = either(
  named(
    "Report",
    record({
      folder: text,
      servers: list(
        record({
          ...asked,
          written: number,
          removed: number,
          collisions: about("Tools that would have the same identifier in code", list(texts)),
          kept: about("Paths where your own file is in the place of a generated file", texts),
        }),
      ),
      pruned: about("Servers that are no longer in the config", texts),
      "cleaned?": about("With --clean: paths of removed files that belonged to no server", texts),
    }),
  ),
  named(
    "Check",
    about("With --check", record({ folder: text, servers: list(record({ ...asked, differences })), differences })),
  ),
);

/** Writes the table, errors, warnings and removed files to stderr, and the folder to stdout. */
export async function tellOfGen({ folder, servers, pruned, cleaned = [] }: GenerateReport, io: Io): Promise<void> {
  const say = (text: string) => io.stderr.write(text);
  const rows = servers.map(({ server, tools, durationMs, written, removed, problem }) => [
    server,
    ...(problem ? ["-", "-", "-"] : [`${tools}`, `${written}`, `${removed}`]),
    `${durationMs} ms`,
    problem?.code ?? "ok",
  ]);
  await say(
    servers.length === 0
      ? "The config has no servers.\n"
      : table(["server", "tools", "written", "removed", "time", "state"], rows, io.stderr.columns),
  );
  await tellOfProblems(servers, io);
  if (io.interrupted.aborted) await say("\nInterrupted: the tools of the other servers were written\n");
  for (const { server, collisions } of servers) {
    for (const names of collisions) {
      const nameless = names.find((name) => !isIdentifier(name)) ?? "";
      await say(
        `\nwarning: ${names.join(" and ")} of ${server} would have the same name in code: use servers[${JSON.stringify(server)}][${JSON.stringify(nameless)}]\n`,
      );
    }
  }
  for (const path of servers.flatMap(({ kept }) => kept)) {
    await say(`\nwarning: ${path} is not a generated file and was left unchanged\n`);
  }
  if (pruned.length > 0) await say(`\nRemoved, because they are no longer in the config: ${pruned.join(", ")}\n`);
  if (cleaned.length > 0) {
    await say(
      `\nRemoved, because they belonged to no server:\n${cleaned.map((path) => `  ${relative(folder, path)}\n`).join("")}`,
    );
  }
  await io.stdout.write(`${folder}\n`);
}

/** Writes the table and errors to stderr, and each file that gen would write or remove to stdout. */
export async function tellOfCheck(report: RegistryCheck, io: Io): Promise<void> {
  const { folder, servers, differences } = report;
  const rows = servers.map((server) => [
    server.server,
    ...(server.problem ? ["-", "-"] : [`${server.tools}`, `${server.differences.length}`]),
    `${server.durationMs} ms`,
    server.problem?.code ?? (server.differences.length > 0 ? "stale" : "ok"),
  ]);
  await io.stderr.write(
    servers.length === 0
      ? "The config has no servers.\n"
      : table(["server", "tools", "differences", "time", "state"], rows, io.stderr.columns),
  );
  await tellOfProblems(servers, io);
  const stale = staleness(report);
  if (stale) {
    const all = [...servers.flatMap((server) => server.differences), ...differences];
    await io.stdout.write(all.map(({ path, state }) => `${state.padEnd(7)}  ${relative(folder, path)}\n`).join(""));
    await io.stderr.write(`\n${errorText(stale, hasColours(io.stderr, io))}`);
  } else if (servers.every(({ problem }) => !problem)) {
    const count = servers.reduce((sum, { tools }) => sum + tools, 0);
    await io.stdout.write(`Up to date: ${count} tools of ${servers.length} servers in ${folder}\n`);
  }
}

/** Cancelled servers are not reported. */
async function tellOfProblems(servers: { problem?: Problem }[], io: Io): Promise<void> {
  for (const { problem } of servers) {
    if (!problem || (problem.code === "CANCELLED" && io.interrupted.aborted)) continue;
    await io.stderr.write(`\nerror: ${problem.message}\n${problem.hint ? `hint: ${problem.hint}\n` : ""}`);
  }
}

/** The error of gen if a server failed. The files of the other servers are written. */
export function failureOf(servers: { server: string; problem?: Problem }[]): ClaudikinsError | undefined {
  const failed = servers.filter((server) => server.problem);
  const [first] = failed;
  if (!first?.problem) return undefined;
  const names = failed.map(({ server }) => server).join(", ");
  return new ClaudikinsError(first.problem.code, `${failed.length} of ${servers.length} servers failed: ${names}`);
}

/** The error of `--check` if anything would change, else undefined. */
export function staleness({ folder, servers, differences }: RegistryCheck): ClaudikinsError | undefined {
  const count = servers.reduce((sum, server) => sum + server.differences.length, differences.length);
  if (count === 0) return undefined;
  const files = count === 1 ? "1 file" : `${count} files`;
  return new ClaudikinsError("REGISTRY_STALE", `The registry in ${folder} is out of date: ${files}`, {
    hint: "To update it, run the command again without --check",
  });
}
