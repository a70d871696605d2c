/** `claudikins trust`: shows what a project's config would do, and trusts it if the person agrees. */
import { existsSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { discoverConfig, isSame, readConfigFile, refuseForeign } from "../../config/discover.ts";
import { configFileName, userConfigFile } from "../../config/locations.ts";
import { parsedConfig } from "../../config/plain-config.ts";
import { isHarmless, marksOf } from "../../config/trust/marks.ts";
import { NotTrusted, type TrustRequest } from "../../config/trust/not-trusted.ts";
import { knowsMarks, readTrust, revokeTrust, trustedStates, trustKey } from "../../config/trust/store.ts";
import { writtenFolderAround } from "../../config/trust/written-folders.ts";
import { ClaudikinsError } from "../../errors.ts";
import { linesOf } from "../../settings/trust/lines.ts";
import { changesOf, questionText } from "../../settings/trust/question.ts";
import { trustConfig } from "../../settings/trust/trust-config.ts";
import { command, commonArgs } from "../command.ts";
import type { Io } from "../io.ts";
import { canAsk } from "../prompt.ts";
import { errorJson } from "../report.ts";
import { about, either, list, oneOf, record, text, texts, time, yesOrNo } from "../shapes.ts";
import { table } from "../table.ts";
import { ageText } from "../time-text.ts";
import { asksForTrust } from "../trust-prompt.ts";

const lineShape = record({
  part: about("A server's name, or policy, model, folders or executions", text),
  does: text,
  what: about("Without secrets", text),
  change: about("Compared with the last trusted version; new if there was none", oneOf("same", "new", "gone")),
});

const oneShape = record({
  config: text,
  trusted: yesOrNo,
  state: about("State before the command ran", oneOf("trusted", "new", "changed", "your own")),
  lines: list(lineShape),
});

export default command({
  description:
    "Show what this project's config would start, connect to, read and allow, and ask whether you trust it. claudikins uses a project's config only after you trust it, and asks again when the config starts, reads or allows something else. Your own config needs no trust, and neither does a config that you name with --config.",
  args: {
    path: {
      type: "positional",
      required: false,
      description: "Config file, or the folder that contains it (default: the nearest claudikins.json)",
      complete: "file",
    },
    yes: { type: "boolean", short: "y", description: "Trust the config without asking" },
    list: { type: "boolean", description: "List the configs that you trust" },
    revoke: { type: "boolean", description: "Stop trusting the config, and stop its daemon" },
    json: commonArgs.json,
  },
  examples: [
    "claudikins trust",
    "claudikins trust ~/code/shop --yes",
    "claudikins trust --list",
    "claudikins trust --revoke",
  ],
  json: either(
    oneShape,
    record({ trusted: list(record({ config: text, servers: texts, trustedAt: time })) }),
    record({ revoked: texts }),
  ),
  jsonFailure: { "trust?": oneShape },
  async run(args, io) {
    if (args.list && (args.revoke || args.path !== undefined))
      throw new ClaudikinsError("USAGE", "--list cannot be used with a path or with --revoke");
    if (args.yes && (args.list || args.revoke))
      throw new ClaudikinsError("USAGE", "--yes cannot be used with --list or --revoke");
    const json = args.json === true;
    if (args.list) return writeList(json, io);
    const file = chosenFile(args.path, io);
    if (args.revoke) return revoke(file, json, io);
    return trust(file, { json, yes: args.yes === true }, io);
  },
});

/** Returns undefined for the user's own config and the demo. Throws CONFIG_NOT_FOUND. */
function chosenFile(path: string | undefined, { cwd, env }: Io): string | undefined {
  if (path === undefined) {
    // A config named in the environment is trusted already. This command is about the config that is found.
    const origin = discoverConfig({ cwd, env: { ...env, CLAUDIKINS_CONFIG: undefined } });
    return origin.kind === "project" ? origin.file : undefined;
  }
  const given = resolve(cwd, path);
  const file = statSync(given, { throwIfNoEntry: false })?.isDirectory() ? join(given, configFileName) : given;
  return isSame(file, userConfigFile(env)) ? undefined : file;
}

async function trust(
  file: string | undefined,
  { json, yes }: { json: boolean; yes: boolean },
  io: Io,
): Promise<number> {
  if (file === undefined) {
    const own = { config: userConfigFile(io.env), trusted: true, state: "your own", lines: [] };
    if (json) await io.stdout.write(`${JSON.stringify(own)}\n`);
    else await io.stdout.write("No project config is in use here. Your own config needs no trust.\n");
    return 0;
  }
  const request = await requestFor(file, io);
  const { text, config, before } = request;
  const states = trustedStates(file, io.env);
  const isKnown = isHarmless(config) || knowsMarks(marksOf(config), states);
  const state = isKnown ? "trusted" : before ? "changed" : "new";
  const document = { config: file, trusted: true, state, lines: jsonLines(request) };
  if (!isKnown && !(await isAllowed())) {
    const refusal = NotTrusted.of(request);
    if (!json) throw new NotTrusted(refusal.message, "To trust it without a prompt, add --yes");
    await io.stderr.write(errorJson(refusal, { trust: { ...document, trusted: false } }));
    return refusal.exitCode;
  }
  if (!isKnown) await trustConfig({ file, text, config }, io.env);
  if (json) await io.stdout.write(`${JSON.stringify(document)}\n`);
  else await io.stdout.write(isKnown ? `${file} is already trusted.\n` : `Trusted ${file}\n`);
  return 0;

  async function isAllowed(): Promise<boolean> {
    if (!json && !yes && canAsk(io)) {
      if (await asksForTrust(request, io)) return true;
      throw new ClaudikinsError("CANCELLED", "The config was not trusted. Nothing was changed");
    }
    if (!json) await io.stdout.write(questionText(request));
    return yes;
  }
}

/** Throws CONFIG_NOT_FOUND, CONFIG_INVALID, and CONFIG_NOT_TRUSTED for a file that cannot be trusted. */
async function requestFor(file: string, { env }: Io): Promise<TrustRequest> {
  if (!existsSync(file)) throw new ClaudikinsError("CONFIG_NOT_FOUND", `No config file at ${file}`);
  const folder = writtenFolderAround(file, env);
  if (folder !== undefined) {
    throw new NotTrusted(
      `${file} cannot be trusted: claudikins and sandboxed code write to ${folder}`,
      "Move it to a folder that only you write to",
    );
  }
  refuseForeign(file, env);
  const text = readConfigFile(file);
  const [before] = trustedStates(file, env);
  return { file, text, config: await parsedConfig(text, file), before };
}

function jsonLines(request: TrustRequest): object[] {
  const changes = changesOf(request);
  const isNew = (line: object) =>
    !changes || changes.some((change) => change.sign === "+" && JSON.stringify(change.line) === JSON.stringify(line));
  const now = linesOf(request.config).map((line) => ({ line, change: isNew(line) ? "new" : "same" }));
  const gone = (changes ?? []).flatMap(({ sign, line }) => (sign === "-" ? [{ line, change: "gone" }] : []));
  return [...now, ...gone].map(({ line: { part, label, text }, change }) => ({
    part,
    does: label,
    what: text,
    change,
  }));
}

async function writeList(json: boolean, io: Io): Promise<number> {
  const trusted = [...readTrust(io.env)].flatMap(([config, [last]]) =>
    last ? [{ config, servers: Object.keys(last.marks.servers), trustedAt: last.at }] : [],
  );
  if (json) await io.stdout.write(`${JSON.stringify({ trusted })}\n`);
  else if (trusted.length === 0) await io.stderr.write("You do not trust any project's config.\n");
  else {
    const rows = trusted.map(({ config, servers, trustedAt }) => [
      config,
      servers.join(", "),
      ageText(Date.now() - trustedAt),
    ]);
    await io.stdout.write(table(["config", "servers", "trusted"], rows, io.stdout.columns));
  }
  return 0;
}

async function revoke(file: string | undefined, json: boolean, io: Io): Promise<number> {
  const revoked = file === undefined ? [] : await revokeTrust([file], io.env);
  if (file !== undefined && revoked.length > 0) await stopDaemons(file, io);
  if (json) await io.stdout.write(`${JSON.stringify({ revoked })}\n`);
  else if (revoked.length > 0) await io.stdout.write(`${revoked[0]} is no longer trusted.\n`);
  else
    await io.stdout.write(
      `${file === undefined ? "No project config is in use here" : `${trustKey(file)} was not trusted`}.\n`,
    );
  return 0;
}

/** Stops the daemons of a config that is no longer trusted. */
async function stopDaemons(file: string, io: Io): Promise<void> {
  const { askToStop, findPeers } = await import("../../daemon/peers.ts");
  for (const { place, status } of await findPeers(io.env)) {
    if (status.config !== null && trustKey(status.config) === trustKey(file)) await askToStop(place.socket, true);
  }
}
