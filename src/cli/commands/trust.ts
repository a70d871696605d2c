/** `claudikins trust`: shows what a project's config would do, and trusts it if the user agrees. */

import { existsSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { ageText } from "../../base/duration.ts";
import { ClaudikinsError } from "../../base/errors.ts";
import { about, either, list, oneOf, record, text, texts, time, yesOrNo } from "../../base/json-shape.ts";
import { discoverConfig, isSame, readConfigFile, refuseForeignConfig } from "../../config/discover.ts";
import { configFileName, userConfigFile } from "../../config/locations.ts";
import { parsedConfig } from "../../config/plain-config.ts";
import { isHarmless, marksOf } from "../../config/trust/marks.ts";
import { NotTrusted, type TrustRequest } from "../../config/trust/not-trusted.ts";
import { knowsMarks, readTrust, trustedStates, trustKey } from "../../config/trust/store.ts";
import { writtenFolderAround } from "../../config/trust/written-folders.ts";
import { ownServersBeside } from "../../config/user-config.ts";
import { linesOf } from "../../setup/trust/lines.ts";
import { changesOf, ownLines, trustQuestion } from "../../setup/trust/question.ts";
import { endTrust, trustConfig } from "../../setup/trust/trust-config.ts";
import { type CommandAnswer, command, flag, place } from "../command.ts";
import { asksForTrust } from "../flags/config-flags.ts";
import type { Io } from "../io.ts";
import { listAnswer } from "../output/nouns.ts";
import { canAsk } from "../terminal/prompt.ts";

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
    "Show what this project's config would start, connect to, read and allow, and ask whether you trust it. claudikins uses a project's config only after you trust it, and asks again when the config starts, reads or allows something else. Your own config needs no trust, and neither does a config that you name with --config. For tools that their server has changed: claudikins review.",
  args: {
    path: place("Config file, or the folder that contains it (default: the nearest claudikins.json)", {
      required: false,
      complete: "file",
    }),
    yes: flag("Trust the config without asking", { short: "y" }),
    list: flag("List the configs that you trust"),
    revoke: flag("Stop trusting the config, and stop its daemon"),
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
    if (args.list) return listed(io);
    const file = chosenFile(args.path, io);
    if (args.revoke) return revoke(file, io);
    return trust(file, { json: args.json === true, yes: args.yes === true }, io);
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
): Promise<CommandAnswer> {
  if (file === undefined) {
    const own = { config: userConfigFile(io.env), trusted: true, state: "your own", lines: [] };
    return { json: own, text: "No project config is in use here. Your own config needs no trust.\n" };
  }
  const request = await requestFor(file, io);
  const { text, config, own, before } = request;
  const states = trustedStates(file, io.env);
  const isKnown = isHarmless(config, own.added) || knowsMarks(marksOf(config), states);
  const state = isKnown ? "trusted" : before ? "changed" : "new";
  const document = { config: file, trusted: true, state, lines: jsonLines(request) };
  if (!isKnown && !(await isAllowed())) {
    const failure = NotTrusted.of(request);
    if (!json) throw new NotTrusted(failure.message, "To trust it without a prompt, add --yes");
    return { failure, beside: { trust: { ...document, trusted: false } } };
  }
  if (!isKnown) await trustConfig({ file, text, config }, io.env, "command");
  return { json: document, text: isKnown ? `${file} is already trusted.\n` : `Trusted ${file}\n` };

  async function isAllowed(): Promise<boolean> {
    if (!json && !yes && canAsk(io)) {
      if (await asksForTrust(request, io)) return true;
      throw new ClaudikinsError("CANCELLED", "The config was not trusted. Nothing was changed");
    }
    if (!json) await io.stdout.write(trustQuestion(request));
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
  refuseForeignConfig(file, env);
  const text = readConfigFile(file);
  const [before] = trustedStates(file, env);
  const config = await parsedConfig(text, file);
  return { file, text, config, own: await ownServersBeside(config, env), before };
}

function jsonLines(request: TrustRequest): object[] {
  const changes = changesOf(request);
  const isNew = (line: object) =>
    !changes || changes.some((change) => change.sign === "+" && JSON.stringify(change.line) === JSON.stringify(line));
  const now = linesOf(request.config).map((line) => ({ line, change: isNew(line) ? "new" : "same" }));
  const gone = (changes ?? []).flatMap(({ sign, line }) => (sign === "-" ? [{ line, change: "gone" }] : []));
  const own = ownLines(request).map((line) => ({ line, change: request.before ? "same" : "new" }));
  return [...now, ...gone, ...own].map(({ line: { part, label, text }, change }) => ({
    part,
    does: label,
    what: text,
    change,
  }));
}

function listed(io: Io): CommandAnswer {
  const trusted = [...readTrust(io.env)].flatMap(([config, [last]]) =>
    last ? [{ config, servers: Object.keys(last.marks.servers), trustedAt: last.at }] : [],
  );
  return listAnswer(io, { json: { trusted }, rows: trusted, none: "You do not trust any project's config.\n" }, [
    ["config", ({ config }) => config],
    [{ text: "servers" }, ({ servers }) => servers.join(", ")],
    ["trusted", ({ trustedAt }) => ageText(Date.now() - trustedAt)],
  ]);
}

async function revoke(file: string | undefined, io: Io): Promise<CommandAnswer> {
  if (file === undefined) return { json: { revoked: [] }, text: "No project config is in use here.\n" };
  const key = trustKey(file);
  if (!(await endTrust(file, io.env))) return { json: { revoked: [] }, text: `${key} was not trusted.\n` };
  await stopDaemons(file, io);
  return { json: { revoked: [key] }, text: `${key} is no longer trusted.\n` };
}

/** Stops the daemons of a config that is no longer trusted. */
async function stopDaemons(file: string, io: Io): Promise<void> {
  const { askToStop, findPeers } = await import("../../daemon/peers.ts");
  for (const { place, status } of await findPeers(io.env)) {
    if (status.config !== null && trustKey(status.config) === trustKey(file)) await askToStop(place.socket, true);
  }
}
