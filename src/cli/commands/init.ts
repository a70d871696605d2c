/** `claudikins init`: takes over the MCP servers of the hosts on this machine, and puts claudikins in their place. */
import type { Config } from "../../config/load.ts";
import { ClaudikinsError } from "../../errors.ts";
import { openConfigFile, writeConfigFile } from "../../flows/config-file.ts";
import { type Applied, apply } from "../../flows/hosts/apply.ts";
import { entriesIn } from "../../flows/hosts/find.ts";
import { type Measured, measure } from "../../flows/hosts/measure.ts";
import { haveSecrets, maskOf } from "../../flows/hosts/secrets.ts";
import {
  checkNotEmpty,
  type Inventory,
  planSwitch,
  rewireOptions,
  type SwitchPlan,
  settleBoth,
  takeInventory,
} from "../../flows/hosts/switch-over.ts";
import type { Toolbox } from "../../flows/toolbox.ts";
import { isTrustedFile, keepTrust, untrustedText } from "../../flows/trust/keep-trust.ts";
import { chosenHosts, hostNames } from "../../hosts/hosts.ts";
import { hasColours } from "../colours.ts";
import { command, commonArgs } from "../command.ts";
import { unifiedDiff } from "../diff.ts";
import { parseDuration, repeatable } from "../flags.ts";
import { appliedLines, choiceTexts, initShape, inventoryTable, notesText, rowsOf, sumText } from "../init-report.ts";
import type { Io } from "../io.ts";
import { Progress } from "../progress.ts";
import { canAsk, choose, confirm } from "../prompt.ts";
import { errorJson, errorText } from "../report.ts";
import { toolboxOf } from "../session.ts";

/** For all servers together; one that is downloaded first may take longer. */
const usualStartMs = 30_000;
const maxStartMs = 600_000;

export default command({
  name: "init",
  description:
    "Take the MCP servers of Claude Code, Claude Desktop, Cursor, VS Code, Windsurf, Codex, Gemini CLI, opencode and Zed into claudikins.json, and put claudikins in their place.",
  args: {
    apply: {
      type: "boolean",
      description: "Rewire the hosts without asking; each file is kept for claudikins restore",
    },
    "dry-run": { type: "boolean", description: "Show what would change, line by line, and write nothing" },
    host: {
      type: "string",
      valueHint: "name",
      description:
        "Only this host: claude-code, claude-desktop, cursor, vscode, windsurf, codex, gemini, opencode, zed (repeatable)",
      choices: hostNames,
      ...repeatable,
    },
    project: {
      type: "boolean",
      description: "Also the files of this project, such as .mcp.json, which others may share",
    },
    prefer: {
      type: "string",
      valueHint: "host",
      description:
        "Whose server counts where several have one of the same name; claudikins is the config that is there (repeatable)",
      choices: ["claudikins", ...hostNames],
      ...repeatable,
    },
    "keep-both": { type: "boolean", description: "Keep different servers of the same name, under two names" },
    "no-start": { type: "boolean", description: "Start no server: their tools are not counted" },
    timeout: {
      type: "string",
      valueHint: "time",
      description: "How long the servers may take to answer, all together (30s)",
    },
    config: { ...commonArgs.config, description: "Write this config file (default: the user's)" },
    json: commonArgs.json,
  },
  examples: [
    "claudikins init --dry-run",
    "claudikins init --apply",
    "claudikins init --apply --host cursor --host codex --prefer cursor",
    "claudikins restore",
  ],
  json: initShape,
  jsonFailure: { "init?": initShape },
  async run(args, io, all) {
    const withinMs = args.timeout === undefined ? usualStartMs : parseDuration(args.timeout, "--timeout", maxStartMs);
    const named = all("host");
    const hosts = chosenHosts(named);
    const surroundings = { env: io.env, platform: process.platform, cwd: io.cwd };
    const configFile = openConfigFile({ flag: args.config, user: args.config === undefined, cwd: io.cwd, env: io.env });
    const order = all("prefer");
    if (order.some((name) => !isKnownOrigin(name))) chosenHosts(order.filter((name) => !isKnownOrigin(name)));
    const inventory = await takeInventory(hosts, configFile, {
      ...surroundings,
      project: args.project === true,
      named: new Set(named),
      order,
      both: args["keep-both"] === true,
    });
    await settle(inventory, io, args.json === true);
    if (named.length === 0) checkNotEmpty(inventory);
    for (const { name, title } of named.length > 0 && !args.json ? hosts : []) {
      if (inventory.found.files.some(({ host }) => host.name === name)) continue;
      await io.stderr.write(`note: ${title} is not on this machine: its folder of settings is missing\n`);
    }
    const plan = await planSwitch(inventory, configFile, { env: io.env, cwd: io.cwd, named: new Set(named) });
    // Nothing is written then, not even what servers say.
    const unkept = args["dry-run"] ? { logs: undefined } : {};
    await using toolbox = await toolboxOf(plan.config, io, { cwd: io.cwd, ...unkept });
    // The parser reads `--no-…` as a flag that is taken back.
    const measured = args["start"] === false ? new Map() : await startAll(toolbox, plan.config, inventory);
    const rows = rowsOf(inventory.servers, plan.config, measured);
    if (!args.json) {
      if (rows.length > 0) await io.stdout.write(inventoryTable(rows, io.stdout.columns));
      await io.stderr.write(sumText(rows, plan.config.surfaceTokens) + notesText(rows, inventory.found));
    }
    if (io.interrupted.aborted) throw new ClaudikinsError("CANCELLED", "Nothing was changed");

    const diffs = args["dry-run"] ? diffsOf(plan) : undefined;
    if (diffs && !args.json) {
      const colours = hasColours(io.stdout, io);
      const texts = diffs.map(({ file, from, to }) => unifiedDiff(file, from, to, colours));
      await io.stdout.write(texts.length > 0 ? `\n${texts.join("\n")}` : "");
    }
    const written = diffs ? [] : await write();
    const failure = failureOf(inventory, plan, written);
    if (args.json) {
      const document = {
        config: { file: configFile.file, written: !diffs && plan.isNew },
        servers: rows,
        skipped: inventory.found.files.flatMap(({ skipped }) => skipped),
        shared: inventory.found.shared,
        hosts: hostsJson(plan, written, diffs !== undefined),
        ...(diffs ? { diff: diffs.map(({ file, from, to }) => unifiedDiff(file, from, to)).join("\n") } : {}),
      };
      if (failure) await io.stderr.write(errorJson(failure, { init: document }));
      else await io.stdout.write(`${JSON.stringify(document)}\n`);
    } else if (failure) await io.stderr.write(`\n${errorText(failure, hasColours(io.stderr, io))}`);
    return failure?.exitCode ?? 0;

    async function startAll(box: Toolbox, config: Config, { servers }: Inventory): Promise<Map<string, Measured>> {
      const names = servers.flatMap(({ name }) => (config.servers.get(name)?.needs.length === 0 ? [name] : []));
      const progress = new Progress(args.json ? undefined : io.stderr, "servers", names.length);
      const onServer = (name: string) => progress.advance(name);
      const answers = await measure(box, names, { withinMs, signal: io.interrupted, onServer });
      progress.end();
      return answers;
    }

    /** Secrets are shown as ***. */
    function diffsOf({ plans, configText }: SwitchPlan): { file: string; from: string; to: string }[] {
      const { files } = inventory.found;
      const mask = maskOf([
        ...inventory.servers.map(({ entry }) => entry),
        ...configFile.entries.values(),
        ...files.flatMap(({ content, host, file }) => entriesIn(content.text, host, file, surroundings)),
      ]);
      return [
        { file: configFile.file, from: mask(configFile.text), to: mask(configText) },
        ...plans.map(({ before, afterText }) => ({ file: before.path, from: mask(before.text), to: mask(afterText) })),
      ];
    }

    async function write(): Promise<Applied[]> {
      const isTrusted = await isTrustedFile(configFile, io.env);
      if (plan.isNew) writeConfigFile(configFile, plan.configText, { secrets: configFile.kind === "user" });
      if (plan.isNew && isTrusted) await keepTrust(configFile, plan.configText, io.env);
      if (!isTrusted && !args.json) await io.stderr.write(`note: ${untrustedText(configFile)}\n`);
      if (plan.isNew && !args.json) await io.stderr.write(`\nWrote ${configFile.file}\n`);
      const isShared = configFile.kind === "project" && plan.isNew;
      if (isShared && !args.json && haveSecrets(inventory.servers.map(({ entry }) => entry))) {
        await io.stderr.write(
          `warning: ${configFile.file} has secrets in it: keep it out of git, or write \${VAR} instead\n`,
        );
      }
      for (const [name, answer] of measured) {
        // They are connected: this takes a moment, and the first search finds their tools.
        if (answer.tools !== undefined && !io.interrupted.aborted)
          await toolbox.learn(name, io.interrupted).catch(() => {});
      }
      if (plan.plans.length === 0) {
        if (!args.json) await io.stderr.write("No host has to be rewired.\n");
        return [];
      }
      if (!args.apply && !(await consents(plan, io))) return [];
      const applied = await apply(plan.plans, {
        ...rewireOptions(configFile, io),
        surroundings,
        env: io.env,
        signal: io.interrupted,
      });
      if (!args.json) {
        await io.stderr.write(appliedLines(applied));
        await io.stderr.write("Start your agent anew. To have everything as it was: claudikins restore\n");
      }
      return applied;
    }

    async function consents({ plans }: SwitchPlan, { stderr }: Io): Promise<boolean> {
      const files = plans.map(({ found }) => `  ${found.host.title}: ${found.file.path}\n`).join("");
      if (canAsk(io) && !args.json) {
        await stderr.write(`\nTo be rewired to claudikins alone:\n${files}`);
        if (await confirm(io, "Rewire them? Each file is kept for claudikins restore.")) return true;
      }
      if (!args.json) await stderr.write("\nThe hosts are as they were. To rewire them: claudikins init --apply\n");
      return false;
    }
  },
});

function isKnownOrigin(name: string): boolean {
  return name === "claudikins" || /[\\/]/.test(name);
}

/** Asks about each name that stands for several servers. Throws USAGE where nobody can be asked. */
async function settle(inventory: Inventory, io: Io, json: boolean): Promise<void> {
  const { conflicts } = inventory;
  const mask = maskOf(conflicts.flatMap(({ choices }) => choices.map(({ entry }) => entry)));
  if (conflicts.length > 0 && (json || !canAsk(io))) {
    const lines = conflicts.flatMap((conflict) => [
      `  ${conflict.name}`,
      ...choiceTexts(conflict, mask).map((text) => `    ${text}`),
    ]);
    const what = conflicts.length === 1 ? "A name stands" : `${conflicts.length} names stand`;
    const first = conflicts[0]?.choices.at(-1)?.from[0];
    throw new ClaudikinsError("USAGE", `${what} for different servers:\n${lines.join("\n")}`, {
      hint: `Say whose counts, for example --prefer ${first?.folder ?? first?.host}, or keep them all: --keep-both. Nothing was changed.`,
    });
  }
  for (const conflict of conflicts.splice(0)) {
    const { name, choices } = conflict;
    const texts = [...choiceTexts(conflict, mask), "all of them, under different names"];
    const chosen = choices[await choose(io, `${name} stands for different servers:`, texts)];
    if (chosen) inventory.servers.push({ name, ...chosen });
    else settleBoth(inventory, conflict);
  }
}

/** What was done is done; yet not all of it could be. */
function failureOf({ found }: Inventory, { refused }: SwitchPlan, written: Applied[]): ClaudikinsError | undefined {
  const errors = [...found.problems, ...refused, ...written].flatMap(({ error }) => error ?? []);
  const [first] = errors;
  if (!first) return undefined;
  const rest = errors.length > 1 ? ` (and ${errors.length - 1} more)` : "";
  return new ClaudikinsError(first.code, `Not every host was switched over: ${first.message}${rest}`, {
    hint: first.hint,
  });
}

function hostsJson({ plans, refused }: SwitchPlan, written: Applied[], isDry: boolean): object[] {
  const notPlanned = refused.map(({ error, ...file }) => ({ ...file, result: "failed", error: error.message }));
  const planned = plans.map(({ found }) => {
    const done = written.find(({ file }) => file === found.file.path);
    const result = done ? (done.error ? "failed" : "rewired") : isDry ? "would be rewired" : "not rewired";
    return {
      host: found.host.name,
      file: found.file.path,
      result,
      ...(done?.error ? { error: done.error.message } : {}),
    };
  });
  return [...planned, ...notPlanned];
}
