/** `claudikins restore`: restores the agents' settings from before `init`. */

import { ClaudikinsError } from "../../base/errors.ts";
import { about, list, oneOf, record, text } from "../../base/json-shape.ts";
import { hasChanges, type Restored, restore } from "../../setup/agents/restore.ts";
import { maskOf } from "../../setup/agents/secrets.ts";
import { agentNames, chosenAgents } from "../../setup/agents/supported/agents.ts";
import { unifiedDiff } from "../../setup/unified-diff.ts";
import { installedByInit, removeInstalled } from "../../setup/upgrade/lasting.ts";
import { command, flag, option, repeatable } from "../command.ts";
import type { Io } from "../io.ts";
import { errorText } from "../output/report.ts";
import { colouredDiff } from "../terminal/terminal-output.ts";

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
    host: option("Restore only this agent (repeatable)", {
      valueHint: "name",
      choices: agentNames,
      alias: "agent",
      ...repeatable,
    }),
    "servers-only": flag("Restore the servers even if a file's servers have changed since; added servers are kept"),
    force: flag("Replace files with the originals even if they have changed since"),
    "dry-run": flag("Show the changes as a diff, and write nothing"),
  },
  examples: ["claudikins restore", "claudikins restore --host cursor", "claudikins restore --servers-only"],
  json: record({ files, "executable?": about("What init had installed, and restore removes", text) }),
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
    const isDry = args["dry-run"] === true;
    const files = restored.map((one) => {
      const { host, file, result, error } = one;
      return { host, file, result, diff: diffOf(one, isDry), error: error?.message };
    });
    if (!args.json) for (const one of files) await tell(one, isDry, io);
    // Another agent may still start it.
    const isWhole = named.length === 0 && !hasChanges(io.env);
    const executable = isDry ? installedByInit(io.env) : isWhole ? removeInstalled(io.env) : undefined;
    if (executable !== undefined && !args.json) {
      await io.stdout.write(`${isDry ? "Would remove" : "Removed"} what init had installed: ${executable}\n`);
    }
    const failure = restoreFailure(restored);
    const isChanged = !isDry && restored.some(({ result }) => result.endsWith("restored"));
    const nothing = restored.length === 0 ? "Nothing to undo: init has no changes on record.\n" : "";
    const next = isChanged ? "Restart your agents to use their own servers again.\n" : nothing;
    return {
      json: { files, executable },
      note: failure ? `${next}\n${errorText(failure, io.stderr)}` : next,
      failure,
      beside: { files },
    };
  },
});

interface RestoredFile extends Pick<Restored, "host" | "file" | "result"> {
  diff: string | undefined;
  error: string | undefined;
}

async function tell(
  { host, file, result, diff, error }: RestoredFile,
  isDry: boolean,
  { stdout, stderr }: Io,
): Promise<void> {
  if (error !== undefined) return stderr.write(`error: ${error}\n`);
  if (diff) await stdout.write(colouredDiff(diff));
  if (isDry && diff) return;
  const what = {
    restored: "Restored",
    "servers restored": "Restored the servers of",
    "as it was": "Nothing to restore for",
  };
  if (result === "changed since") await stderr.write(`The servers of ${host} have changed since init: ${file}\n`);
  else if (result !== "failed") {
    const kept = result === "servers restored" ? " (other changes in the file were kept)" : "";
    await stdout.write(`${what[result]} ${host}: ${file}${kept}\n`);
  }
}

/** Returns the difference that a dry run or a changed file shows, without secrets. */
function diffOf({ file, result, difference, entries = [] }: Restored, isDry: boolean): string | undefined {
  if (!difference || !(isDry || result === "changed since")) return undefined;
  const mask = maskOf(entries);
  return unifiedDiff(file, mask(difference.from), mask(difference.to)) || undefined;
}

/** Why not everything was restored, and what a person can do. */
export function restoreFailure(restored: Restored[]): ClaudikinsError | undefined {
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
