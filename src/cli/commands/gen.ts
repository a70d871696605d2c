/** `claudikins gen`: writes the registry, or with `--check` lists what it would write. */

import { chosenServers } from "../../catalog/chosen-servers.ts";
import type { ClaudikinsError } from "../../errors.ts";
import { checkRegistry, generate } from "../../generation/generate.ts";
import { command, commonArgs, repeatable } from "../command.ts";
import { failureOf, genShape, staleness, tellOfCheck, tellOfGen } from "../gen-report.ts";
import type { Io } from "../io.ts";
import { Progress } from "../progress.ts";
import { errorJson } from "../report.ts";
import { openToolbox } from "../session.ts";
import { trustArgs } from "../trust-prompt.ts";

export default command({
  description:
    "Fetch the tools of the configured servers, and write one TypeScript file per tool and the search index.",
  args: {
    server: {
      type: "string",
      valueHint: "name",
      description: "Update only this server and leave the others unchanged (repeatable)",
      complete: "server",
      ...repeatable,
    },
    category: {
      type: "string",
      valueHint: "name",
      description: "Update only servers of this category (repeatable)",
      complete: "category",
      ...repeatable,
    },
    output: {
      type: "string",
      valueHint: "folder",
      description: "Write to this folder instead of the config's registry",
      complete: "folder",
    },
    clean: { type: "boolean", description: "Remove generated files that belong to no server; your own files are kept" },
    check: { type: "boolean", description: "Write nothing; exit with code 1 if anything would be written or removed" },
    ...trustArgs,
    ...commonArgs,
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
    await using toolbox = await openToolbox(io, args, { registry: args.output });
    const only = await chosenServers(toolbox.config, { servers: args.server, categories: args.category });
    const total = only?.length ?? toolbox.config.servers.size;
    const progress = new Progress(args.json ? undefined : io.stderr, "servers", total);
    const onServer = (server: string) => progress.advance(server);
    const options = { only, clean: args.clean, signal: io.interrupted, onServer };
    try {
      if (!args.check) {
        const report = await generate(toolbox, options);
        progress.end();
        return await told(report, failureOf(report.servers), args.json, io, () => tellOfGen(report, io));
      }
      const report = await checkRegistry(toolbox, options);
      progress.end();
      const failure = staleness(report) ?? failureOf(report.servers);
      return await told(report, failure, args.json, io, () => tellOfCheck(report, io));
    } finally {
      progress.end();
    }
  },
});

/** Writes the report as JSON, or as text with `tell`. Returns the exit code. */
async function told(
  report: object,
  failure: ClaudikinsError | undefined,
  json: boolean | undefined,
  io: Io,
  tell: () => Promise<void>,
): Promise<number> {
  if (!json) await tell();
  else if (failure) await io.stderr.write(errorJson(failure, { report }));
  else await io.stdout.write(`${JSON.stringify(report)}\n`);
  return failure?.exitCode ?? 0;
}
