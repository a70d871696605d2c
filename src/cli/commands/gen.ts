/** `claudikins gen`: writes the registry of the configured servers' tools. */
import { ClaudikinsError } from "../../errors.ts";
import { type GenerateReport, generate, type ServerReport } from "../../flows/generate.ts";
import { isIdentifier } from "../../registry/names.ts";
import { command, commonArgs } from "../command.ts";
import { Progress } from "../progress.ts";
import { errorJson } from "../report.ts";
import { openToolbox } from "../session.ts";
import { table } from "../table.ts";

export default command({
  name: "gen",
  description: "Ask every configured server for its tools, and write one TypeScript file a tool plus the search index.",
  args: commonArgs,
  examples: ["claudikins gen", "claudikins gen --config ./claudikins.json --json"],
  async run(args, io) {
    await using toolbox = await openToolbox(io, args.config);
    const total = toolbox.config.servers.size;
    const progress = new Progress(args.json ? undefined : io.stderr, "servers", total);
    const report = await generate(toolbox, {
      signal: io.interrupted,
      onServer: ({ server }) => progress.advance(server),
    });
    progress.end();
    const failure = failureOf(report);
    if (args.json) {
      if (failure) await io.stderr.write(errorJson(failure, { report }));
      else await io.stdout.write(`${JSON.stringify(report)}\n`);
      return failure?.exitCode ?? 0;
    }
    await io.stderr.write(total > 0 ? reportTable(report.servers) : "The config has no servers.\n");
    for (const { problem } of report.servers) {
      if (problem)
        await io.stderr.write(`\nerror: ${problem.message}\n${problem.hint ? `hint: ${problem.hint}\n` : ""}`);
    }
    for (const { server, collisions } of report.servers) {
      for (const names of collisions) {
        const nameless = names.find((name) => !isIdentifier(name)) ?? "";
        await io.stderr.write(
          `\nwarning: ${names.join(" and ")} of ${server} would have the same name in code: call servers[${JSON.stringify(server)}][${JSON.stringify(nameless)}]\n`,
        );
      }
    }
    for (const path of report.servers.flatMap(({ kept }) => kept)) {
      await io.stderr.write(`\nwarning: ${path} is not a generated file: it was left alone\n`);
    }
    if (report.pruned.length > 0)
      await io.stderr.write(`\nRemoved, not in the config any more: ${report.pruned.join(", ")}\n`);
    await io.stdout.write(`${report.folder}\n`);
    return failure?.exitCode ?? 0;
  },
});

/** What the command fails with when a server did; the files of the others are written all the same. */
function failureOf({ servers }: GenerateReport): ClaudikinsError | undefined {
  const failed = servers.filter((server) => server.problem);
  const [first] = failed;
  if (!first?.problem) return undefined;
  const names = failed.map(({ server }) => server).join(", ");
  return new ClaudikinsError(first.problem.code, `${failed.length} of ${servers.length} servers failed: ${names}`);
}

function reportTable(servers: ServerReport[]): string {
  const rows = servers.map(({ server, tools, durationMs, written, problem }) => [
    server,
    problem ? "-" : String(tools),
    problem ? "-" : String(written),
    `${durationMs} ms`,
    problem ? problem.code : "ok",
  ]);
  return table(["server", "tools", "files written", "time", "state"], rows);
}
