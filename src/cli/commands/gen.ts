/** `claudikins gen`: writes the registry, or with `--check` lists what it would write. */

import { relative } from "node:path";
import { counted } from "../../base/counted.ts";
import { durationText } from "../../base/duration.ts";
import { ClaudikinsError, type Problem } from "../../base/errors.ts";
import { either } from "../../base/json-shape.ts";
import { interruptedBefore } from "../../tools/catalog/ask-all.ts";
import { chosenServers } from "../../tools/catalog/chosen-servers.ts";
import {
  checkRegistry,
  checkShape,
  type GenerateReport,
  generate,
  type RegistryCheck,
  reportShape,
} from "../../tools/generate.ts";
import { isIdentifier } from "../../tools/names.ts";
import { type CommandAnswer, command, flag, option, repeatable } from "../command.ts";
import { configArgs } from "../flags/config-flags.ts";
import type { Io } from "../io.ts";
import { openApp } from "../open-app.ts";
import { errorText } from "../output/report.ts";
import { countingServers } from "../terminal/progress.ts";
import { type Cell, type Column, table } from "../terminal/table.ts";
import { stateCell, warningLabel } from "../terminal/terminal-output.ts";

const genShape = either(reportShape, checkShape);

export default command({
  description:
    "Fetch the tools of the configured servers, and write one TypeScript file per tool and the search index.",
  args: {
    server: option("Update only this server and leave the others unchanged (repeatable)", {
      valueHint: "name",
      complete: "server",
      ...repeatable,
    }),
    category: option("Update only servers of this category (repeatable)", {
      valueHint: "name",
      complete: "category",
      ...repeatable,
    }),
    output: option("Write to this folder instead of the config's registry", {
      valueHint: "folder",
      complete: "folder",
    }),
    clean: flag("Remove generated files that belong to no server; your own files are kept"),
    check: flag("Write nothing; exit with code 1 if anything would be written or removed"),
    ...configArgs,
  },
  examples: [
    "claudikins gen",
    "claudikins gen --server github --server sentry",
    "claudikins gen --output ./registry --clean",
    "claudikins gen --check --json",
  ],
  json: genShape,
  jsonFailure: { "report?": genShape },
  async run(args, io) {
    await using app = await openApp(io, args, { registry: args.output });
    const only = await chosenServers(app.config, { servers: args.server, categories: args.category });
    const total = only?.length ?? app.config.servers.size;
    const counting = <T>(work: (onServer: (name: string) => void) => Promise<T>) =>
      countingServers(args.json ? undefined : io.stderr, total, work);
    const options = { only, clean: args.clean, signal: io.interrupted };
    if (args.check) {
      return checkAnswer(await counting((onServer) => checkRegistry(app, { ...options, onServer })), io);
    }
    return genAnswer(await counting((onServer) => generate(app, { ...options, onServer })), io);
  },
});

/** The table, errors, warnings and removed files are notes; the text is the folder. */
function genAnswer(report: GenerateReport, io: Io): CommandAnswer {
  const { folder, servers, pruned, cleaned = [] } = report;
  const rows = servers.map(({ server, tools, durationMs, written, removed, problem }) => [
    server,
    stateCell(problem ? stateOf(problem, io) : "ok"),
    ...(problem ? ["-", "-", "-"] : [`${tools}`, `${written}`, `${removed}`]),
    durationText(durationMs),
  ]);
  const notes = tableAndProblems(
    ["server", "state", ...numbers("tools", "written", "removed", "time")],
    rows,
    servers,
    io,
  );
  if (io.interrupted.aborted) notes.push("Interrupted: the tools of the other servers were written\n");
  for (const { server, collisions } of servers) {
    for (const names of collisions) {
      const nameless = names.find((name) => !isIdentifier(name)) ?? "";
      const place = `servers[${JSON.stringify(server)}][${JSON.stringify(nameless)}]`;
      notes.push(
        `${warningLabel} ${names.join(" and ")} of ${server} would have the same name in code: use ${place}\n`,
      );
    }
  }
  for (const path of servers.flatMap(({ kept }) => kept)) {
    notes.push(`${warningLabel} ${path} is not a generated file and was left unchanged\n`);
  }
  if (pruned.length > 0) notes.push(`Removed, because they are no longer in the config: ${pruned.join(", ")}\n`);
  if (cleaned.length > 0) {
    const paths = cleaned.map((path) => `  ${relative(folder, path)}\n`);
    notes.push(`Removed, because they belonged to no server:\n${paths.join("")}`);
  }
  const failure = failureOf(servers, io);
  return { json: report, text: `${folder}\n`, note: notes.join("\n"), failure, beside: { report } };
}

/** The table and errors are notes; the text is each file that gen would write or remove. */
function checkAnswer(report: RegistryCheck, io: Io): CommandAnswer {
  const { folder, servers, differences } = report;
  const rows = servers.map((server) => [
    server.server,
    stateCell(server.problem ? stateOf(server.problem, io) : server.differences.length > 0 ? "stale" : "ok"),
    ...(server.problem ? ["-", "-"] : [`${server.tools}`, `${server.differences.length}`]),
    durationText(server.durationMs),
  ]);
  const notes = tableAndProblems(["server", "state", ...numbers("tools", "differences", "time")], rows, servers, io);
  const all = [...servers.flatMap((server) => server.differences), ...differences];
  // Without the tools of all servers, it is unknown whether the index is up to date.
  const isInterrupted = servers.some(({ problem }) => problem && isUnasked(problem, io));
  const stale = all.length > 0 && !isInterrupted ? staleness(folder, all.length) : undefined;
  if (stale) notes.push(errorText(stale, io.stderr));
  const failure = stale ?? failureOf(servers, io);
  if (isInterrupted && failure) notes.push(errorText(failure, io.stderr));
  const count = servers.reduce((sum, { tools }) => sum + tools, 0);
  const upToDate = failure ? "" : `Up to date: ${count} tools of ${servers.length} servers in ${folder}\n`;
  const files = all.map(({ path, state }) => `${state.padEnd(7)}  ${relative(folder, path)}\n`);
  return {
    json: report,
    text: isInterrupted ? "" : files.join("") || upToDate,
    note: notes.join("\n"),
    failure,
    beside: { report },
  };
}

/** Whether the server was not asked, or not until its answer, because the command was interrupted. */
function isUnasked({ code }: Problem, { interrupted }: Io): boolean {
  return code === "CANCELLED" && interrupted.aborted;
}

function stateOf(problem: Problem, io: Io): string {
  return isUnasked(problem, io) ? "not asked" : problem.code;
}

const numbers = (...titles: string[]): Column[] => titles.map((number) => ({ number }));

/** Cancelled servers are not reported. */
function tableAndProblems(
  head: Column[],
  rows: Cell[][],
  servers: { problem?: Problem | undefined }[],
  io: Io,
): string[] {
  if (rows.length === 0) return ["The config has no servers.\n"];
  const problems = servers.flatMap(({ problem }) => {
    if (!problem || isUnasked(problem, io)) return [];
    return [errorText(new ClaudikinsError(problem.code, problem.message, { hint: problem.hint }), io.stderr)];
  });
  return [table(head, rows, io.stderr.columns), ...problems];
}

/** The error of gen if a server failed. The files of the other servers are written. */
function failureOf(servers: { server: string; problem?: Problem | undefined }[], io: Io): ClaudikinsError | undefined {
  const unasked = servers.filter(({ problem }) => problem && isUnasked(problem, io));
  if (unasked.length > 0) return interruptedBefore(unasked, servers.length);
  const failed = servers.filter((server) => server.problem);
  const [first] = failed;
  if (!first?.problem) return undefined;
  const names = failed.map(({ server }) => server).join(", ");
  return new ClaudikinsError(first.problem.code, `${failed.length} of ${servers.length} servers failed: ${names}`);
}

/** The error of `--check` if files would change. */
function staleness(folder: string, count: number): ClaudikinsError {
  return new ClaudikinsError("REGISTRY_STALE", `The registry in ${folder} is out of date: ${counted(count, "file")}`, {
    hint: "To update it, run the command again without --check",
  });
}
