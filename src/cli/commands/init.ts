/** `claudikins init`: imports the MCP servers of the agents on this machine, and puts claudikins in their place. */

import type { Applied } from "../../agents/apply.ts";
import { leaveAll, wishesOf } from "../../agents/choices.ts";
import { entriesIn } from "../../agents/find-servers.ts";
import { type Measured, measure } from "../../agents/measure.ts";
import { maskOf } from "../../agents/secrets.ts";
import { agentNames, chosenAgents } from "../../agents/supported/agents.ts";
import {
  isEmpty,
  nothingFound,
  planSwitch,
  type Survey,
  type SwitchPlan,
  takeSurvey,
} from "../../agents/switch-over.ts";
import { ClaudikinsError } from "../../errors.ts";
import { isTrustedFile } from "../../settings/trust/trust-config.ts";
import type { Toolbox } from "../../toolbox/toolbox.ts";
import { hasColours } from "../colours.ts";
import { command, commonArgs, repeatable } from "../command.ts";
import { unifiedDiff } from "../diff.ts";
import { duration, parsePairs } from "../flags.ts";
import { conflictsJson, hostsJson, initShape, type Row, rowsOf, seenJson } from "../init-document.ts";
import { askAboutConflicts, conflictLines, decisionText, fillIn, refuseConflicts } from "../init-questions.ts";
import { inventoryTable, notesText, seenText, sumText } from "../init-report.ts";
import { type Started, write } from "../init-writing.ts";
import { Progress } from "../progress.ts";
import { canAsk } from "../prompt.ts";
import { errorJson, errorText } from "../report.ts";
import { toolboxOf } from "../session.ts";

/** Default time limit for all servers together. */
const usualStartMs = 30_000;
const maxStartMs = 600_000;

export default command({
  description:
    "Import the MCP servers of Claude Code, Claude Desktop, Cursor, VS Code, Windsurf, Codex, Gemini CLI, opencode and Zed into claudikins.json, and put claudikins in their place.",
  args: {
    apply: {
      type: "boolean",
      description: "Change your agents' settings without asking; claudikins restore undoes it",
    },
    "dry-run": {
      type: "boolean",
      description: "Show what was found and the changes as a diff; write nothing",
    },
    host: {
      type: "string",
      valueHint: "name",
      description:
        "Only this agent: claude-code, claude-desktop, cursor, vscode, windsurf, codex, gemini, opencode, zed (repeatable)",
      choices: agentNames,
      ...repeatable,
    },
    project: {
      type: "boolean",
      description:
        "Also import servers that this project shares, such as those in .mcp.json, into the project's claudikins.json",
    },
    prefer: {
      type: "string",
      valueHint: "host",
      description:
        "If agents use one name for different servers, this agent's server keeps it and the others are renamed. name=host imports only that agent's server of this name. claudikins stands for the existing config (repeatable)",
      choices: ["claudikins", ...agentNames],
      ...repeatable,
    },
    "keep-both": { type: "boolean", description: "Keep different servers of the same name under two names" },
    env: {
      type: "string",
      valueHint: "NAME=value",
      description: "Value to write into your config in place of ${NAME} (repeatable)",
      complete: "variable",
      ...repeatable,
    },
    "no-start": { type: "boolean", description: "Do not start any server; tools are not counted" },
    timeout: {
      type: "string",
      valueHint: "time",
      description: "Time limit for all servers to answer (default 30s)",
      parse: duration(maxStartMs),
    },
    config: {
      ...commonArgs.config,
      description: "Config file to write (default: your own); with --project, the project's",
    },
    json: commonArgs.json,
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
    const withinMs = args.timeout ?? usualStartMs;
    const named = args.host;
    const agents = chosenAgents(named);
    const surroundings = { env: io.env, platform: process.platform, cwd: io.cwd };
    const pairs = parsePairs(args.env, "--env", { form: /^([A-Za-z_]\w*)=([\s\S]+)$/, shown: "NAME=value" });
    const given = new Map([...pairs].map(([name, value = ""]) => [name, value]));
    const isDry = args["dry-run"] === true;
    const asks = canAsk(io) && !args.json && !isDry;
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
    if (isDry && !args.json) await io.stdout.write(seenText(survey));
    for (const { name, title } of named.length > 0 && !args.json ? agents : []) {
      if (found.files.some(({ agent }) => agent.name === name)) continue;
      await io.stderr.write(`note: ${title} is not on this machine: its settings folder does not exist\n`);
    }
    const plans: SwitchPlan[] = [];
    for (const inventory of inventories)
      plans.push(await planSwitch(inventory, { env: io.env, named: new Set(named) }));
    const rows: Row[] = [];
    await using toolboxes = new AsyncDisposableStack();
    const started: Started[] = [];
    for (const plan of plans) {
      // A dry run writes nothing, not even logs.
      const toolbox = toolboxes.use(
        await toolboxOf(plan.config, io, { cwd: io.cwd, ...(isDry ? { logs: undefined } : {}) }),
      );
      toolbox.catalog.ignoreChanges();
      const measured = (await isStarted(plan)) ? await startAll(toolbox, plan) : new Map<string, Measured>();
      started.push({ plan, toolbox, measured });
      const own = rowsOf(plan, measured);
      rows.push(...own);
      if (args.json || own.length === 0) continue;
      if (inventories.length > 1) await io.stdout.write(`\n${plan.inventory.configFile.file}\n`);
      await io.stdout.write(inventoryTable(own, io.stdout.columns));
    }
    if (!args.json) await io.stderr.write(sumText(rows, plans[0]!.config.surfaceTokens) + notesText(rows, found));
    if (io.interrupted.aborted) throw new ClaudikinsError("CANCELLED", "Nothing was changed");

    const diffs = isDry ? diffsOf() : undefined;
    if (diffs && !args.json) await showDry(diffs);
    const written = diffs
      ? []
      : await write(started, { asks, apply: args.apply === true, isQuiet: args.json === true }, io);
    const failure = failureOf(survey, plans, written);
    if (args.json) {
      const configs = plans.map(({ inventory: { configFile }, isNew }) => ({
        file: configFile.file,
        written: !diffs && isNew,
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
        ...(diffs ? { diff: diffs.map(({ file, from, to }) => unifiedDiff(file, from, to)).join("\n") } : {}),
      };
      if (failure) await io.stderr.write(errorJson(failure, { init: document }));
      else await io.stdout.write(`${JSON.stringify(document)}\n`);
    } else if (failure) await io.stderr.write(`\n${errorText(failure, hasColours(io.stderr, io))}`);
    return failure?.exitCode ?? 0;

    /** Servers that a repository shares are not started by a dry run or with an untrusted config. */
    async function isStarted({ inventory: { configFile } }: SwitchPlan): Promise<boolean> {
      if (args["no-start"]) return false;
      const isShared = args.project === true && configFile.kind === "project";
      return !isShared || (!isDry && (await isTrustedFile(configFile, io.env)));
    }

    async function startAll(box: Toolbox, { config, inventory }: SwitchPlan): Promise<Map<string, Measured>> {
      const names = inventory.servers.flatMap(({ name }) =>
        config.servers.get(name)?.needs.length === 0 ? [name] : [],
      );
      const progress = new Progress(args.json ? undefined : io.stderr, "servers", names.length);
      const onServer = (name: string) => progress.advance(name);
      const answers = await measure(box.catalog, names, { withinMs, signal: io.interrupted, onServer });
      progress.end();
      return answers;
    }

    /** Secrets are shown as ***. */
    function diffsOf(): { file: string; from: string; to: string }[] {
      const mask = maskOf([
        ...inventories.flatMap(({ servers, configFile }) => [
          ...servers.map(({ entry }) => entry),
          ...configFile.entries.values(),
        ]),
        ...found.files.flatMap((each) => entriesIn(each.content.text, each, surroundings)),
      ]);
      return plans.flatMap(({ inventory: { configFile }, configText, plans: files }) => [
        { file: configFile.file, from: mask(configFile.text), to: mask(configText) },
        ...files.map(({ found: { content }, after }) => ({
          file: content.path,
          from: mask(content.text),
          to: mask(after),
        })),
      ]);
    }

    async function showDry(all: { file: string; from: string; to: string }[]): Promise<void> {
      const colours = hasColours(io.stdout, io);
      const texts = all.map(({ file, from, to }) => unifiedDiff(file, from, to, colours)).filter(Boolean);
      await io.stdout.write(texts.map((text) => `\n${text}`).join(""));
      const conflicts = inventories.flatMap((each) => each.conflicts);
      if (conflicts.length > 0) {
        await io.stdout.write(
          `\nDecide first: these names refer to different servers, which stay where they are:\n${conflictLines(conflicts)}\n`,
        );
        await io.stderr.write(`\n${decisionText(inventories)}\n`);
      }
      const next =
        texts.length > 0 ? "Nothing was written. To make these changes: claudikins init" : "Nothing would change.";
      await io.stderr.write(`\n${next}${isEmpty(survey) ? ` ${nothingFound(survey).hint}` : ""}\n`);
    }
  },
});

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
