/** `claudikins restore`: restores the agents' settings from before `init`. */

import { type Restored, restore } from "../../agents/restore.ts";
import { maskOf } from "../../agents/secrets.ts";
import { agentNames, chosenAgents } from "../../agents/supported/agents.ts";
import { ClaudikinsError } from "../../errors.ts";
import { hasColours } from "../colours.ts";
import { command, commonArgs, repeatable } from "../command.ts";
import { unifiedDiff } from "../diff.ts";
import type { Io } from "../io.ts";
import { errorJson, errorText } from "../report.ts";
import { about, list, oneOf, record, text } from "../shapes.ts";

const files = list(
  record({
    host: text,
    file: text,
    result: oneOf("restored", "servers restored", "as it was", "changed since", "failed"),
    "diff?": about("The pending change: with --dry-run, or if the file has changed since", text),
    "error?": text,
  }),
);

export default command({
  description:
    "Undo what init did to your agents' settings files. A file is restored byte for byte. If the agent has changed other settings in the file since, only the servers are restored. claudikins.json is not changed.",
  args: {
    host: {
      type: "string",
      valueHint: "name",
      description: "Restore only this agent (repeatable)",
      choices: agentNames,
      ...repeatable,
    },
    "servers-only": {
      type: "boolean",
      description: "Restore the servers even if a file's servers have changed since; added servers are kept",
    },
    force: {
      type: "boolean",
      description: "Replace files with the originals even if they have changed since",
    },
    "dry-run": { type: "boolean", description: "Show the changes as a diff, and write nothing" },
    json: commonArgs.json,
  },
  examples: ["claudikins restore", "claudikins restore --host cursor", "claudikins restore --servers-only"],
  json: record({ files }),
  jsonFailure: { "files?": files },
  async run(args, io) {
    if (args.force && args["servers-only"]) {
      throw new ClaudikinsError("USAGE", "Use --force or --servers-only, not both");
    }
    const named = args.host;
    const agents = chosenAgents(named).map(({ name }) => name);
    const restored = await restore({
      agents: named.length === 0 ? [] : agents,
      force: args.force === true,
      serversOnly: args["servers-only"] === true,
      dryRun: args["dry-run"] === true,
      signal: io.interrupted,
      surroundings: { env: io.env, platform: process.platform, cwd: io.cwd },
    });
    const failure = failureOf(restored);
    if (args.json) {
      const files = restored.map((one) => {
        const { host, file, result, error } = one;
        const diff = diffOf(one, args["dry-run"] === true, false);
        return { host, file, result, ...(diff ? { diff } : {}), ...(error ? { error: error.message } : {}) };
      });
      if (failure) await io.stderr.write(errorJson(failure, { files }));
      else await io.stdout.write(`${JSON.stringify({ files })}\n`);
      return failure?.exitCode ?? 0;
    }
    if (restored.length === 0) await io.stderr.write("Nothing to undo: init has no changes on record.\n");
    for (const one of restored) await tell(one, args["dry-run"] === true, io);
    if (failure) await io.stderr.write(`\n${errorText(failure, hasColours(io.stderr, io))}`);
    return failure?.exitCode ?? 0;
  },
});

async function tell(one: Restored, isDry: boolean, io: Io): Promise<void> {
  const { host, file, result, error } = one;
  if (error) return io.stderr.write(`error: ${error.message}\n`);
  const diff = diffOf(one, isDry, hasColours(io.stdout, io));
  if (diff) await io.stdout.write(diff);
  if (isDry && diff) return;
  const what = {
    restored: "Restored",
    "servers restored": "Restored the servers of",
    "as it was": "Nothing to restore for",
  };
  if (result === "changed since") await io.stderr.write(`The servers of ${host} have changed since init: ${file}\n`);
  else if (result !== "failed") {
    const kept = result === "servers restored" ? " (other changes in the file were kept)" : "";
    await io.stdout.write(`${what[result]} ${host}: ${file}${kept}\n`);
  }
}

/** Returns the difference that a dry run or a changed file shows, without secrets. */
function diffOf(
  { file, result, difference, entries = [] }: Restored,
  isDry: boolean,
  colours: boolean,
): string | undefined {
  if (!difference || !(isDry || result === "changed since")) return undefined;
  const mask = maskOf(entries);
  return unifiedDiff(file, mask(difference.from), mask(difference.to), colours);
}

function failureOf(restored: Restored[]): ClaudikinsError | undefined {
  const failed = restored.find(({ error }) => error)?.error;
  if (failed) return new ClaudikinsError(failed.code, failed.message, { hint: failed.hint });
  const changed = restored.filter(({ result }) => result === "changed since");
  if (changed.length === 0) return undefined;
  const files = changed.map(({ file }) => file).join(" and ");
  return new ClaudikinsError(
    "CONFIG_INVALID",
    `The servers have changed since init, so nothing was restored in ${files}`,
    {
      hint: "To add the original servers to the current ones: claudikins restore --servers-only. To bring back the original file: claudikins restore --force",
    },
  );
}
