/** `claudikins init`: imports the MCP servers of the agents on this machine, and puts claudikins in their place. */

import { counted } from "../../base/counted.ts";
import { ClaudikinsError } from "../../base/errors.ts";
import { minuteMs } from "../../base/units.ts";
import { namesFor, type PlainSecret, plainSecretsOf, refer } from "../../setup/agents/plain-secrets.ts";
import { diffsOf } from "../../setup/agents/planned-diffs.ts";
import { agentNames } from "../../setup/agents/supported/agents.ts";
import { isEmpty, nothingFound, planSwitch, type Survey, withheldNames } from "../../setup/agents/switch-over.ts";
import { type Needed, neededExecutable } from "../../setup/upgrade/lasting.ts";
import { command, flag, option, repeatable } from "../command.ts";
import { configArgs } from "../flags/config-flags.ts";
import { timeUpTo } from "../flags/flags.ts";
import { contextOf, type InitContext, keepSecret } from "../init/context.ts";
import { conflictLines, decisionText, surveyed } from "../init/questions.ts";
import {
  absentText,
  initFailure,
  initJson,
  initShape,
  inventoryTable,
  notesText,
  seenText,
  tokensText,
  warningsText,
} from "../init/report.ts";
import { type StartedPlan, settleFailed, startServers } from "../init/start-servers.ts";
import { writeChanges } from "../init/write-changes.ts";
import { errorText } from "../output/report.ts";
import { confirm } from "../terminal/prompt.ts";
import { colouredDiff } from "../terminal/terminal-output.ts";

/** Time for all servers together to answer `init`, if no flag says otherwise. */
const defaultStartsMs = 30_000;

/** Maximum of the flag for this time. */
const maxStartsMs = 10 * minuteMs;

const secretWishes = ["move", "keep"] as const;

export default command({
  description:
    "Import the MCP servers of Claude Code, Claude Desktop, Cursor, VS Code, Windsurf, Codex, Gemini CLI, opencode, Zed, GitHub Copilot CLI, Antigravity, Kiro, Crush, Amp, Qwen Code, Roo Code and Cline into claudikins.json, and put claudikins in their place.",
  args: {
    apply: flag(
      "Change your agents' settings without asking for it; which server gets a name and missing values are still asked about. claudikins restore undoes it",
    ),
    "dry-run": flag("Show what was found and the changes as a diff; write nothing"),
    host: option(
      "Only this agent: claude-code, claude-desktop, cursor, vscode, windsurf, codex, gemini, opencode, zed, copilot, antigravity, kiro, crush, amp, qwen, roo, cline (repeatable)",
      { valueHint: "name", choices: agentNames, alias: "agent", ...repeatable },
    ),
    door: option("The agents that --host names see only this door of the config: claudikins doors", {
      valueHint: "name",
      complete: "door",
    }),
    project: flag(
      "Also import servers that this project shares, such as those in .mcp.json, into the project's claudikins.json",
    ),
    prefer: option(
      "If agents use one name for different servers, this agent's server keeps it and the others are renamed. name=host imports only that agent's server of this name. claudikins stands for the existing config (repeatable)",
      { valueHint: "host", choices: ["claudikins", ...agentNames], ...repeatable },
    ),
    "keep-both": flag("Keep different servers of the same name under two names"),
    env: option("Value to write into your config in place of ${NAME} (repeatable)", {
      valueHint: "NAME=value",
      complete: "variable",
      ...repeatable,
    }),
    secrets: option(
      "What happens to values that look like secrets: move them to the system's keychain, or keep them in your config (default: you are asked)",
      { valueHint: "what", choices: secretWishes },
    ),
    "no-start": flag("Do not start any server; tools are not counted"),
    timeout: option("Time limit for all servers to answer (default 30s)", timeUpTo(maxStartsMs)),
    config: {
      ...configArgs.config,
      description: "Config file to write (default: your own); with --project, the project's",
    },
  },
  examples: [
    "claudikins init --dry-run",
    "claudikins init --apply",
    "claudikins init --apply --host cursor --host codex --prefer memory=cursor",
    "claudikins init --host codex --door code --apply",
    "claudikins init --project --config claudikins.json",
    "claudikins restore",
  ],
  json: initShape,
  jsonFailure: { "init?": initShape },
  async run(args, io) {
    if (args.door !== undefined && args.host.length === 0) {
      throw new ClaudikinsError("USAGE", "--door needs --host: the agent that sees only this door", {
        hint: `For example: claudikins init --host codex --door ${args.door}`,
      });
    }
    const context = contextOf(args, io);
    const { isDry, named, show, say } = context;
    const survey = await surveyed(args, context);
    if (isDry) await show(seenText(survey));
    await say(absentText(survey.found, named));
    const plans = await Promise.all(
      survey.inventories.map((each) => planSwitch(each, { env: io.env, named, door: args.door })),
    );
    await using apps = new AsyncDisposableStack();
    const starting = {
      isWanted: !args["no-start"],
      withProject: args.project === true,
      withinMs: args.timeout ?? defaultStartsMs,
      apps,
    };
    const started: StartedPlan[] = [];
    for (const plan of plans) {
      const start = await startServers(plan, starting, context);
      started.push(start);
      if (start.rows.length === 0) continue;
      if (plans.length > 1) await show(`\n${plan.inventory.configFile.file}\n`);
      await show(inventoryTable(start.rows, io.stdout.columns));
    }
    const rowsOfAll = () => started.flatMap(({ rows }) => rows);
    await say(tokensText(rowsOfAll(), plans[0]!.config) + warningsText(rowsOfAll()));
    if (io.interrupted.aborted) throw new ClaudikinsError("CANCELLED", "Nothing was changed");
    await settleFailed(started, context);
    const imported = started.map(({ plan }) => plan);
    const entries = imported.flatMap(({ inventory }) => inventory.servers.map(({ entry }) => entry));
    await say(notesText(rowsOfAll(), survey.found, imported, withheldNames(io.env, entries)));

    await moveSecrets(started, args.secrets, context);
    const settled = started.map(({ plan }) => plan);
    const isRewiring = settled.some((plan) => plan.plans.length > 0);
    const needed = isRewiring ? await neededExecutable(io.env, io.interrupted) : undefined;
    const diffs = isDry ? diffsOf(settled, survey, context.surroundings) : undefined;
    const written = diffs ? [] : await writeChanges(started, needed, context);
    const failure = initFailure(survey, settled, written);
    const json = initJson({ survey, plans: settled, rows: rowsOfAll(), written, isDry, needed, diffs });
    const { text, note } = diffs ? dryTexts(survey, diffs.filter(Boolean), needed) : { text: "", note: "" };
    const problem = failure ? `\n${errorText(failure, io.stderr)}` : "";
    return { json, text, note: note + problem, failure, beside: { init: json } };
  },
});

function dryTexts(survey: Survey, diffs: string[], needed: Needed | undefined): { text: string; note: string } {
  const install = needed ? `\nWould install claudikins to ${needed.path}: ${needed.why}\n` : "";
  const text = install + diffs.map((diff) => `\n${colouredDiff(diff)}`).join("");
  const conflicts = survey.inventories.flatMap((each) => each.conflicts);
  const next =
    diffs.length > 0
      ? "Nothing was written. To make these changes, run the command again without --dry-run."
      : "Nothing would change.";
  const note = `\n${next}\n${isEmpty(survey) ? `${nothingFound(survey).hint}\n` : ""}`;
  if (conflicts.length === 0) return { text, note };
  const first = "Decide first: these names refer to different servers, which stay where they are:";
  return {
    text: `${text}\n${first}\n${conflictLines(conflicts)}\n`,
    note: `\n${decisionText(survey.inventories)}\n${note}`,
  };
}

/**
 * Only the user's own config gets references to secrets: others who work on a project do not have them. Plans again what changes. Throws
 * what `setSecret` throws, except that a keychain that does not answer leaves the values where they are.
 */
async function moveSecrets(
  started: readonly StartedPlan[],
  wish: string | undefined,
  context: InitContext,
): Promise<void> {
  const ofUser = started.filter(({ plan }) => plan.inventory.configFile.kind === "user");
  const secrets = ofUser.flatMap(({ plan }) => plainSecretsOf(plan.inventory.servers));
  if (secrets.length === 0 || wish === "keep" || !(await wants(secrets, wish, context))) return;
  const { io, isDry } = context;
  const names = await namesFor(secrets, io.env);
  const kept: [PlainSecret, string][] = [];
  for (const each of names) if (isDry || (await keepSecret(each[1], each[0].value, context))) kept.push(each);
  refer(kept);
  for (const start of ofUser) {
    start.plan = await planSwitch(start.plan.inventory, { env: io.env, named: context.named });
  }
}

async function wants(
  secrets: readonly PlainSecret[],
  wish: string | undefined,
  { io, asks, say }: InitContext,
): Promise<boolean> {
  if (wish === "move") return true;
  const byServer = Map.groupBy(secrets, ({ server }) => server.name);
  const lines = [...byServer].map(([server, all]) => `  ${server}: ${all.map(({ key }) => key).join(", ")}\n`);
  const what = `${counted(secrets.length, "value")} of imported servers ${secrets.length === 1 ? "looks like a secret" : "look like secrets"}`;
  if (!asks) {
    await say(
      `\nnote: ${what}:\n${lines.join("")}To keep ${secrets.length === 1 ? "it" : "them"} in the system's keychain and not in the config: claudikins init --secrets move\n`,
    );
    return false;
  }
  await say(`\n${what}:\n${lines.join("")}`);
  return confirm(io, "Keep them in the system's keychain and not in the config?");
}
