/** `claudikins init`: imports the MCP servers of the agents on this machine, and puts claudikins in their place. */
import { type Applied, apply } from "../../agents/apply.ts";
import { leaveAll, wishesOf } from "../../agents/choices.ts";
import { entriesIn } from "../../agents/find-servers.ts";
import { type Measured, measure } from "../../agents/measure.ts";
import { haveSecrets, maskOf } from "../../agents/secrets.ts";
import { agentNames, chosenAgents } from "../../agents/supported/agents.ts";
import {
  commandFor,
  isEmpty,
  nothingFound,
  planSwitch,
  type Survey,
  type SwitchPlan,
  takeSurvey,
} from "../../agents/switch-over.ts";
import type { Redact } from "../../clients/secrets.ts";
import { ClaudikinsError } from "../../errors.ts";
import { writeConfigFile } from "../../settings/config-file.ts";
import { isTrustedFile, keepTrust, untrustedText } from "../../settings/trust/trust-config.ts";
import type { Toolbox } from "../../toolbox/toolbox.ts";
import { installLasting, type Needed, neededExecutable } from "../../upgrade/lasting.ts";
import { command, flag, option, repeatable } from "../command.ts";
import { configArgs } from "../config-flags.ts";
import { colouredDiff, unifiedDiff } from "../diff.ts";
import { parsePairs, timeUpTo } from "../flags.ts";
import { askAboutConflicts, conflictLines, decisionText, fillIn, refuseConflicts } from "../init-questions.ts";
import {
  conflictsJson,
  hostsJson,
  initShape,
  inventoryTable,
  notesText,
  type Row,
  rowsOf,
  seenJson,
  seenText,
  sumText,
} from "../init-report.ts";
import type { Io } from "../io.ts";
import { countingServers } from "../progress.ts";
import { canAsk, confirm } from "../prompt.ts";
import { errorText } from "../report.ts";
import { toolboxOf } from "../session.ts";

/** Default time limit for all servers together. */
const usualStartMs = 30_000;
const maxStartMs = 600_000;

export default command({
  description:
    "Import the MCP servers of Claude Code, Claude Desktop, Cursor, VS Code, Windsurf, Codex, Gemini CLI, opencode and Zed into claudikins.json, and put claudikins in their place.",
  args: {
    apply: flag("Change your agents' settings without asking; claudikins restore undoes it"),
    "dry-run": flag("Show what was found and the changes as a diff; write nothing"),
    host: option(
      "Only this agent: claude-code, claude-desktop, cursor, vscode, windsurf, codex, gemini, opencode, zed (repeatable)",
      { valueHint: "name", choices: agentNames, ...repeatable },
    ),
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
    "no-start": flag("Do not start any server; tools are not counted"),
    timeout: option("Time limit for all servers to answer (default 30s)", timeUpTo(maxStartMs)),
    config: {
      ...configArgs.config,
      description: "Config file to write (default: your own); with --project, the project's",
    },
  },
  examples: [
    "claudikins init --dry-run",
    "claudikins init --apply",
    "claudikins init --apply --host cursor --host codex --prefer memory=cursor",
    "claudikins init --project --config claudikins.json",
    "claudikins restore",
  ],
  json: initShape,
  jsonFailure: { "init?": initShape },
  async run(args, io) {
    const named = args.host;
    const agents = chosenAgents(named);
    const surroundings = { env: io.env, platform: process.platform, cwd: io.cwd };
    const pairs = parsePairs(args.env, "--env", { form: /^([A-Za-z_]\w*)=([\s\S]+)$/, shown: "NAME=value" });
    const given = new Map([...pairs].map(([name, value = ""]) => [name, value]));
    const isDry = args["dry-run"] === true;
    const asks = canAsk(io) && !args.json && !isDry;
    const show = async (text: string) => {
      if (!args.json) await io.stdout.write(text);
    };
    const say = async (text: string) => {
      if (!args.json) await io.stderr.write(text);
    };
    const survey = await takeSurvey(agents, {
      ...surroundings,
      project: args.project === true,
      config: args.config,
      named: new Set(named),
      wishes: wishesOf(args.prefer, args["keep-both"] === true),
    });
    const { found, inventories } = survey;
    if (isDry) for (const inventory of inventories) for (const each of inventory.conflicts) leaveAll(inventory, each);
    else if (asks) await askAboutConflicts(inventories, io);
    else refuseConflicts(inventories);
    if (named.length === 0 && !isDry && isEmpty(survey)) throw nothingFound(survey);
    const ofUser = inventories.flatMap(({ configFile, servers }) => (configFile.kind === "user" ? servers : []));
    await fillIn(args.project ? ofUser : inventories.flatMap(({ servers }) => servers), given, io, { asks });
    if (isDry) await show(seenText(survey));
    for (const { name, title } of named.length > 0 ? agents : []) {
      if (found.files.some(({ agent }) => agent.name === name)) continue;
      await say(`note: ${title} is not on this machine: its settings folder does not exist\n`);
    }
    const plans = await Promise.all(
      inventories.map((inventory) => planSwitch(inventory, { env: io.env, named: new Set(named) })),
    );
    const isRewiring = plans.some((plan) => plan.plans.length > 0);
    const needed = isRewiring ? await neededExecutable(io.env, io.interrupted) : undefined;
    const rows: Row[] = [];
    await using toolboxes = new AsyncDisposableStack();
    const started: Started[] = [];
    for (const plan of plans) {
      // A dry run writes nothing, not even logs.
      const ways = { cwd: io.cwd, ...(isDry ? { logs: undefined } : {}) };
      const toolbox = toolboxes.use(await toolboxOf(plan.config, io, ways));
      toolbox.catalog.ignoreChanges();
      const measured = (await isStarted(plan)) ? await startAll(toolbox, plan) : new Map<string, Measured>();
      started.push({ plan, toolbox, measured });
      const own = rowsOf(plan, measured);
      rows.push(...own);
      if (own.length === 0) continue;
      if (inventories.length > 1) await show(`\n${plan.inventory.configFile.file}\n`);
      await show(inventoryTable(own, io.stdout.columns));
    }
    const pluginNotes = plans.flatMap(({ notes }) => notes);
    await say(sumText(rows, plans[0]!.config.surfaceTokens) + notesText(rows, found, pluginNotes));
    if (io.interrupted.aborted) throw new ClaudikinsError("CANCELLED", "Nothing was changed");

    const diffs = isDry ? diffsOf(plans, maskOf(secretEntries())) : undefined;
    const written = diffs ? [] : await write(started, { asks, apply: args.apply === true, needed, say }, io);
    const failure = failureOf(survey, plans, written);
    const configs = plans.map(({ inventory: { configFile }, isNew }) => ({
      file: configFile.file,
      written: !isDry && isNew,
    }));
    const document = {
      config: configs[0],
      projectConfigs: configs.slice(1),
      seen: seenJson(found.files),
      servers: rows,
      skipped: found.files.flatMap(({ skipped }) => skipped),
      conflicts: conflictsJson(inventories),
      shared: found.shared,
      hosts: plans.flatMap((plan) => hostsJson(plan, written, isDry)),
      ...(needed ? { executable: { path: needed.path, installed: written.length > 0 } } : {}),
      diff: diffs?.join("\n"),
    };
    const { text, note } = diffs ? dryTexts(survey, diffs.filter(Boolean), needed) : { text: "", note: "" };
    const problem = failure ? `\n${errorText(failure)}` : "";
    return { json: document, text, note: note + problem, failure, beside: { init: document } };

    /** Servers that a repository shares are not started by a dry run or with an untrusted config. */
    async function isStarted({ inventory: { configFile } }: SwitchPlan): Promise<boolean> {
      if (args["no-start"]) return false;
      const isShared = args.project === true && configFile.kind === "project";
      return !isShared || (!isDry && (await isTrustedFile(configFile, io.env)));
    }

    function startAll({ catalog }: Toolbox, { config, inventory }: SwitchPlan): Promise<Map<string, Measured>> {
      const names = inventory.servers.flatMap(({ name }) =>
        config.servers.get(name)?.needs.length === 0 ? [name] : [],
      );
      const options = { withinMs: args.timeout ?? usualStartMs, signal: io.interrupted };
      return countingServers(args.json ? undefined : io.stderr, names.length, (onServer) =>
        measure(catalog, names, { ...options, onServer }),
      );
    }

    function secretEntries() {
      return [
        ...inventories.flatMap(({ servers, configFile }) => [
          ...servers.map(({ entry }) => entry),
          ...configFile.entries.values(),
        ]),
        ...found.files.flatMap((each) => entriesIn(each.content.text, each, surroundings)),
      ];
    }
  },
});

/** The change of each file. Secrets are shown as ***. */
function diffsOf(plans: SwitchPlan[], mask: Redact): string[] {
  return plans.flatMap(({ inventory: { configFile }, configText, plans: files }) => [
    unifiedDiff(configFile.file, mask(configFile.text), mask(configText)),
    ...files.map(({ found: { content }, after }) => unifiedDiff(content.path, mask(content.text), mask(after))),
  ]);
}

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

/** The first failure, even if other files were changed. */
function failureOf({ found }: Survey, plans: SwitchPlan[], written: Applied[]): ClaudikinsError | undefined {
  const refused = plans.flatMap((plan) => plan.refused);
  const errors = [...found.problems, ...refused, ...written].flatMap(({ error }) => error ?? []);
  const [first] = errors;
  if (!first) return undefined;
  const rest = errors.length > 1 ? ` (and ${errors.length - 1} more)` : "";
  return new ClaudikinsError(first.code, `Some agents' settings were not changed: ${first.message}${rest}`, {
    hint: first.hint,
  });
}

/** A plan and the servers of it that were started. */
interface Started {
  plan: SwitchPlan;
  toolbox: Toolbox;
  measured: ReadonlyMap<string, Measured>;
}

interface WriteOptions {
  /** Whether the person can be asked. */
  asks: boolean;
  /** Whether they have agreed already. */
  apply: boolean;
  /** What must be installed first. */
  needed: Needed | undefined;
  say(text: string): Promise<void>;
}

/** Returns the result for each settings file, or an empty list if the person does not agree. Throws FILE_NOT_WRITABLE for a config. */
async function write(
  started: readonly Started[],
  { asks, apply: isAgreed, needed, say }: WriteOptions,
  io: Io,
): Promise<Applied[]> {
  for (const one of started) await writeConfig(one, say, io);
  const changed = started.map(({ plan }) => plan).filter(({ plans }) => plans.length > 0);
  if (changed.length === 0) {
    await say("No agent's settings need to change.\n");
    return [];
  }
  if (!isAgreed && !(asks && (await agrees(changed, needed, io)))) {
    await say("\nYour agents' settings were not changed. To change them: claudikins init --apply\n");
    return [];
  }
  if (needed) {
    installLasting(needed, io.env);
    await say(`Installed claudikins to ${needed.path}\n`);
  }
  const applied: Applied[] = [];
  for (const { plans, inventory } of changed) {
    applied.push(
      ...(await apply(plans, {
        command: commandFor(inventory.configFile, io.env),
        surroundings: { env: io.env, platform: process.platform, cwd: io.cwd },
        signal: io.interrupted,
      })),
    );
  }
  for (const { host, file, error } of applied) {
    await say(error ? `error: ${error.message}\n` : `Changed ${host}: ${file}\n`);
  }
  const isShared = changed.some(({ plans }) => plans.some(({ found }) => found.file.folder !== undefined));
  if (isShared) {
    await say(
      "Commit the project's claudikins.json together with the changed files. Everyone who works on the project needs claudikins and is asked once to trust this config. In this project, agents get the servers of this config instead of those in your own.\n",
    );
  }
  await say("Restart your agents to use claudikins. To undo this: claudikins restore\n");
  return applied;
}

async function agrees(plans: readonly SwitchPlan[], needed: Needed | undefined, io: Io): Promise<boolean> {
  const files = plans.flatMap((plan) =>
    plan.plans.map(({ found: { agent, file } }) => `  ${agent.title}: ${file.path}\n`),
  );
  if (needed) await io.stderr.write(`\nclaudikins will be installed to ${needed.path}: ${needed.why}.\n`);
  await io.stderr.write(`\nclaudikins will take the place of the servers in these files:\n${files.join("")}`);
  return confirm(io, "Change them? claudikins restore brings the originals back.");
}

async function writeConfig({ plan, toolbox, measured }: Started, say: WriteOptions["say"], io: Io): Promise<void> {
  const { inventory, isNew, configText } = plan;
  const { configFile, servers } = inventory;
  const isTrusted = await isTrustedFile(configFile, io.env);
  if (isNew) writeConfigFile(configFile, configText, { secrets: configFile.kind === "user" });
  if (isNew && isTrusted) await keepTrust(configFile, configText, io.env);
  if (!isTrusted) await say(`note: ${untrustedText(configFile)}\n`);
  if (isNew) await say(`\nWrote ${configFile.file}\n`);
  if (isNew && configFile.kind === "project" && haveSecrets(servers.map(({ entry }) => entry))) {
    await say(
      `warning: ${configFile.file} contains secrets: keep it out of git, or replace the secrets with \${VAR}\n`,
    );
  }
  for (const [name, answer] of measured) {
    // The servers are connected already, so this is quick, and the first search finds their tools.
    if (answer.tools !== undefined && !io.interrupted.aborted)
      await toolbox.catalog.fetch(name, io.interrupted).catch(() => {});
  }
}
