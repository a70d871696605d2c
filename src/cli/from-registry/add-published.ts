/** Adds a server that a registry describes: finds it, shows it, asks once, and makes its entry. */

import { ClaudikinsError } from "../../base/errors.ts";
import { isObject, type JsonObject } from "../../base/json-object.ts";
import type { ValueOf } from "../../base/json-shape.ts";
import { type ConfigFile, configAsText, withServer } from "../../config/config-file.ts";
import type { Config } from "../../config/load.ts";
import { unlessAborted } from "../../servers/abort.ts";
import { checkAddress, entryOf } from "../../setup/registries/entry.ts";
import type { RegistryMatch } from "../../setup/registries/lookup.ts";
import { type Registry, titleOf } from "../../setup/registries/registries.ts";
import { RegistryRefusal, shownTemplate, type Wanted } from "../../setup/registries/templates.ts";
import type { Variant, VariantKind } from "../../setup/registries/variant.ts";
import { variantsOf, wantedOfVariant } from "../../setup/registries/variants.ts";
import { type NewServer, notInCatalog } from "../../setup/settings/add-server.ts";
import type { CommandAnswer } from "../command.ts";
import type { Io } from "../io.ts";
import { canAsk, choose, confirm } from "../terminal/prompt.ts";
import { agreesToFolders, needsPerson, unclear, unseen } from "./consent.ts";
import {
  type ChosenServer,
  findServer,
  isPublishedName,
  registriesFor,
  severalError,
  type Wish,
  wishOf,
  withoutRegistries,
} from "./find-server.ts";
import type { foundServerShape, RegistryFlags } from "./flags.ts";
import { type Review, reviewJson, reviewText } from "./review.ts";
import { allValues, type GivenValues, knownValues } from "./values.ts";

/** What the command line says, and what the config allows. */
export interface AddContext {
  args: RegistryFlags & { json?: boolean | undefined };
  /** Similar names in the catalog. */
  near: readonly string[];
  configFile: ConfigFile;
  /** The values of `--env`. */
  env: GivenValues["env"];
  /** Whether the server will be started, and its values asked for. */
  isChecked: boolean;
  /** Throws USAGE if the key is taken. */
  checkFree(name: string): void;
}

/**
 * Returns the server that the name or the words mean, or the answer of a command that may not add it. Throws SERVER_NOT_FOUND, USAGE,
 * NEEDS_VARIABLE, CANCELLED and the errors of registries.
 */
export async function addPublished(
  text: string,
  setting: AddContext,
  io: Io,
): Promise<NewServer | { answer: CommandAnswer }> {
  const wish = wishOf(text);
  const registries = await registriesFor({ flags: setting.args.registry, isExplicit: isPublishedName(wish) }, io);
  if (registries.length === 0) throw notInCatalog(text, setting.near, await withoutRegistries(text, io));
  const isAsked = canAsk(io) && !setting.args.json;
  const found = await findServer(wish, registries, { near: setting.near, isAsked }, io);
  if ("several" in found) {
    const failure = severalError(wish, found.several);
    return notAdded(failure, { matches: found.several.map(foundJson) }, found.notes, setting, io);
  }
  try {
    return await reviewed(found, wish, { ...setting, isAsked }, io);
  } catch (error) {
    if (!(error instanceof RegistryRefusal)) throw error;
    throw new ClaudikinsError("USAGE", `${found.server.name} cannot be added: ${error.message}`);
  }
}

/** Tells people why nothing is added; scripts get the rest beside it. */
async function notAdded(
  failure: ClaudikinsError,
  beside: object,
  notes: readonly string[],
  { args }: Pick<AddContext, "args">,
  io: Io,
): Promise<{ answer: CommandAnswer }> {
  if (args.json) return { answer: { failure, beside } };
  await io.stderr.write(notes.join(""));
  throw failure;
}

async function reviewed(
  found: ChosenServer,
  wish: Wish,
  { args, configFile, env, isChecked, checkFree, isAsked }: AddContext & { isAsked: boolean },
  io: Io,
): Promise<NewServer | { answer: CommandAnswer }> {
  const { server, registry } = found;
  const { via, yes = false, json = false } = args;
  if (server.status === "deleted") throw deleted(found);
  const { variants, refused } = await usableVariants(found, io);
  const variant = await chosenVariant(found, variants, refused, { via, yes, isAsked, isChecked }, io);
  const name = args.as ?? keyFor(server.name);
  checkFree(name);
  const wanted = wantedOfVariant(variant);
  const known = knownValues(wanted, { set: args.set, env, fromEnvironment: !yes }, io);
  const extra = extraVariables(variant, wanted, env);
  const config = await configWith(name, configFile, io);
  const policy = config.servers.get(name)?.policy;
  const notes = [...found.notes, ...ignoredNotes(config, configFile)];
  const review: Review = { server, registry, variant, variants, refused, values: known, name, policy };
  const tooLittle = yes ? (unclear(found, wish) ?? unseen(found, variant, known)) : needsPerson(found);
  if (tooLittle && !isAsked) {
    if (!json) await io.stdout.write(reviewText(review));
    return notAdded(tooLittle, { review: reviewJson(review) }, notes, { args }, io);
  }
  if (!json) await io.stderr.write(`${notes.join("")}\n${reviewText(review)}`);
  if (tooLittle) {
    if (yes) await io.stderr.write(`note: ${tooLittle.message}\n`);
    await io.stdin.dropTyped();
    if (!(await confirm(io, "Add it?"))) throw new ClaudikinsError("CANCELLED", "Nothing was added");
  }
  const takesSecrets = configFile.kind === "user";
  const values = await allValues(wanted, known, { isAsked, takesSecrets, lenient: !isChecked && !yes }, io);
  if (!(await agreesToFolders(wanted, values, io))) throw new ClaudikinsError("CANCELLED", "Nothing was added");
  const entry = entryOf(variant, values);
  if ("url" in variant) await checkAddress(String(entry["url"]), registry);
  return { name, entry: { ...entry, ...(extra.length > 0 ? { env: withMore(entry["env"], extra) } : {}) }, notes: [] };
}

/** The config with a server of this name, for the rules that will apply to its tools. */
function configWith(name: string, configFile: ConfigFile, { env }: Io): Promise<Config> {
  const text = withServer(configFile, configFile.text, name, { command: "x" });
  return configAsText(configFile, text, env);
}

/** Tells about the registries of a project's config, which do not count. */
function ignoredNotes({ registries }: Config, { kind, file }: ConfigFile): string[] {
  if (kind === "user" || registries === undefined) return [];
  return [`note: "registries" in ${file} is not used. It counts only in your own config\n`];
}

/** Variables of `--env` that the server does not name. Throws USAGE where the server could not get them. */
function extraVariables(variant: Variant, wanted: readonly Wanted[], env: GivenValues["env"]): [string, string][] {
  const extra = [...env].filter(([key]) => !wanted.some(({ name, isVariable }) => isVariable && name === key));
  if (extra[0] && ("url" in variant || variant.kind === "oci")) {
    const names = wanted.map(({ name }) => name).join(", ") || "none";
    throw new ClaudikinsError("USAGE", `${extra[0][0]} is not a variable of the server`, {
      hint: `Its values: ${names}`,
    });
  }
  return extra.map(([key, value]) => [key, value ?? `\${${key}}`]);
}

function withMore(env: unknown, extra: [string, string][]): JsonObject {
  return { ...(isObject(env) ? env : {}), ...Object.fromEntries(extra) };
}

/** A server in a list. */
export function foundJson({ server, registry }: RegistryMatch): ValueOf<typeof foundServerShape> {
  const { name, title, description, version, status } = server;
  return { name, ...(title === undefined ? {} : { title }), description, version, status, registry: registry.url };
}

function deleted({ server, registry }: ChosenServer): ClaudikinsError {
  const why = server.statusMessage === undefined ? "" : `: ${server.statusMessage}`;
  return new ClaudikinsError(
    "SERVER_NOT_FOUND",
    `${server.name} ${server.version} was deleted from ${titleOf(registry)}${why}`,
    {
      hint: "A deleted version is often harmful or broken. Look for another server: claudikins add --search '…'",
    },
  );
}

/** The variants whose addresses the registry may name. Throws SERVER_NOT_FOUND if there is none. */
async function usableVariants(
  { server, registry }: ChosenServer,
  { interrupted }: Pick<Io, "interrupted">,
): Promise<{ variants: Variant[]; refused: string[] }> {
  const { variants: all, refused: others } = variantsOf(server);
  const checks = Promise.all(all.map((variant) => ("url" in variant ? addressProblem(variant, registry) : undefined)));
  const problems = await unlessAborted(checks, interrupted, "the command");
  const variants = all.filter((_, at) => problems[at] === undefined);
  const refused = [
    ...others,
    ...problems.flatMap((problem) => (problem === undefined ? [] : [`its address: ${problem}`])),
  ];
  if (variants.length > 0) return { variants, refused };
  const where = server.websiteUrl ?? server.repository?.url;
  const what = refused.length === 0 ? "its description names no package and no address" : refused.join("; ");
  throw new ClaudikinsError("SERVER_NOT_FOUND", `${server.name} ${server.version} cannot be added: ${what}`, {
    hint: [
      where === undefined ? undefined : `Its page may say how it is set up: ${where}`,
      "To add it by hand: claudikins add NAME -- COMMAND, or claudikins add NAME ADDRESS",
    ]
      .filter(Boolean)
      .join(" "),
  });
}

async function addressProblem(
  { url }: Extract<Variant, { url: unknown }>,
  registry: Registry,
): Promise<string | undefined> {
  const [only, second] = url;
  if (typeof only !== "string" || second !== undefined) return undefined;
  try {
    await checkAddress(only, registry);
    return undefined;
  } catch (error) {
    if (error instanceof RegistryRefusal) return error.message;
    throw error;
  }
}

/** The runtimes as people install them. */
const homes = {
  npx: "Node.js (https://nodejs.org)",
  uvx: "uv (https://docs.astral.sh/uv)",
  dnx: "the .NET 10 SDK (https://dotnet.microsoft.com)",
  docker: "Docker (https://docs.docker.com)",
};

/** The variant of `--via`, the user's choice, or the first one that works here. Throws USAGE, SERVER_UNAVAILABLE and CANCELLED. */
async function chosenVariant(
  { server }: ChosenServer,
  variants: readonly Variant[],
  refused: readonly string[],
  {
    via,
    yes,
    isAsked,
    isChecked,
  }: { via: VariantKind | undefined; yes: boolean; isAsked: boolean; isChecked: boolean },
  io: Io,
): Promise<Variant> {
  const wanted = via === undefined ? variants : variants.filter(({ kind }) => kind === via);
  if (wanted.length === 0) {
    const why = refused.find((reason) => reason.includes(`${via} `));
    throw new ClaudikinsError(
      "USAGE",
      `${server.name} cannot be used by --via ${via}${why === undefined ? "" : `: ${why}`}`,
      {
        hint: `Its ways: ${[...new Set(variants.map(({ kind }) => kind))].join(", ")}`,
      },
    );
  }
  const here = wanted.filter(
    (variant) => "url" in variant || Bun.which(variant.runtime, { PATH: io.env["PATH"] ?? "" }) !== null,
  );
  // An entry that is not started may be for another machine.
  const usable = here.length > 0 || isChecked ? here : wanted;
  const [first, second] = usable;
  if (!first) {
    const runtimes = [...new Set(wanted.flatMap((variant) => ("url" in variant ? [] : [variant.runtime])))];
    throw new ClaudikinsError(
      "SERVER_UNAVAILABLE",
      `${server.name} needs ${runtimes.join(" or ")}, which is not in your PATH`,
      {
        hint: `Install ${runtimes.map((runtime) => homes[runtime]).join(" or ")}, or add --no-check to add it anyway.`,
      },
    );
  }
  if (!second || yes || !isAsked || via !== undefined) return first;
  return usable[await choose(io, `${server.name} can be used in several ways:`, usable.map(variantLine))]!;
}

function variantLine(variant: Variant): string {
  if (!("url" in variant)) return `${variant.kind}: start ${variant.spec} with ${variant.runtime}`;
  return `${variant.kind}: connect to ${shownTemplate(variant.url)}`;
}

/** A short key: `io.github.owner/weather-mcp-server` becomes `weather`, and `com.stripe/mcp` becomes `stripe`. */
export function keyFor(fullName: string): string {
  const [namespace = "", last = ""] = fullName.split("/");
  const short = last.replace(/^(?:mcp-server|server|mcp)[-_.]/i, "").replace(/[-_.](?:mcp-server|mcp|server)$/i, "");
  const again = short.replace(/[-_.]mcp$/i, "");
  const isPlain = /^(?:mcp|server|mcp-server)$/i.test(again) || !/[A-Za-z0-9]/.test(again);
  return isPlain ? (namespace.split(".").at(-1) ?? last) : again;
}
