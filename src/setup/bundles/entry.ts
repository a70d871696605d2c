/** Makes the entry of a bundle: the command of its manifest, with the values of the user, in a box. */
import { isAbsolute, join, sep } from "node:path";
import { ClaudikinsError } from "../../base/errors.ts";
import { sha256 } from "../../base/sha256.ts";
import type { PortableEntry } from "../../config/config-file.ts";
import type { Environment } from "../../config/environment.ts";
import { bundlesFolder, homeOf } from "../../config/locations.ts";
import type { TemplateValues, Wanted } from "../registries/templates.ts";
import type { BundleManifest, BundleOption } from "./manifest.ts";

/** The folder of one entry. Another archive gets another folder, so that a running server keeps its files. */
export function bundleFolder(owner: { config: string; server: string }, digest: string, env: Environment): string {
  const plain = owner.server.replace(/[^A-Za-z0-9_-]+/g, "-").slice(0, 40);
  return join(
    bundlesFolder(env),
    `${plain}-${sha256(JSON.stringify([owner.config, owner.server, digest])).slice(0, 16)}`,
  );
}

/** A short key for a config: `weather-mcp-server` becomes `weather`. */
export function bundleKey({ name }: BundleManifest): string {
  const last = name.split("/").at(-1) ?? name;
  const short = last.replace(/^(?:mcp-server|server|mcp)[-_.]/i, "").replace(/[-_.](?:mcp-server|mcp|server)$/i, "");
  return short.replace(/[^\p{L}\p{N}._-]+/gu, "-").replace(/^-+|-+$/g, "") || "bundle";
}

const formats = {
  string: "string",
  number: "number",
  boolean: "boolean",
  directory: "filepath",
  file: "filepath",
} as const;

/** The values that the user gives. Several defaults of one value are taken later. */
export function wantedOf({ user_config: options }: BundleManifest, env: Environment): Wanted[] {
  return Object.entries(options).map(([name, option]) => {
    const [usual, ...others] = defaultsOf(option, env);
    const described = [option.title, option.description].filter((each) => each !== undefined).join(": ");
    return {
      name,
      isVariable: false,
      ...(described === "" ? {} : { description: described }),
      isRequired: option.required && usual === undefined,
      isSecret: option.sensitive,
      isRepeated: option.multiple,
      format: formats[option.type],
      ...(usual === undefined || others.length > 0 ? {} : { default: usual }),
    };
  });
}

function defaultsOf({ default: usual, type }: BundleOption, env: Environment): string[] {
  const list = usual === undefined ? (type === "boolean" ? [false] : []) : [usual].flat();
  return list.map((each) => filled(String(each), placesOf(env)));
}

interface Chosen {
  folder: string;
  values: TemplateValues;
  env: Environment;
  platform: NodeJS.Platform;
  /** Undefined: no box. */
  box: { network: boolean } | undefined;
}

/** Throws CONFIG_INVALID for a command that refers to anything that bundles do not have, such as a variable of the environment. */
export function entryOf(
  manifest: BundleManifest,
  { folder, values: given, env, platform, box }: Chosen,
): PortableEntry {
  const { user_config: options, server } = manifest;
  const values = new Map<string, readonly string[]>(given);
  for (const [name, option] of Object.entries(options)) {
    if (!values.has(name)) values.set(name, defaultsOf(option, env));
  }
  const { mcp_config: usual } = server;
  const own = usual.platform_overrides?.[platform];
  const places = { ...placesOf(env), __dirname: folder };
  const text = (template: string) => filled(template, places, values);
  const command = text(own?.command ?? usual.command);
  const args = (own?.args ?? usual.args ?? []).flatMap((arg) => {
    const [, name] = /^\$\{user_config\.([\w.-]+)\}$/.exec(arg) ?? [];
    return name === undefined ? [text(arg)] : [...valuesOf(name, values)];
  });
  const variables = Object.entries({ ...usual.env, ...own?.env }).flatMap(([name, template]) => {
    const isMissing = usedIn(template).some((each) => valuesOf(each, values).length === 0);
    return isMissing ? [] : [[name, text(template)] as const];
  });
  return {
    command: isInBundle(command, manifest) ? join(folder, command) : command,
    ...(args.length > 0 ? { args } : {}),
    ...(variables.length > 0 ? { env: Object.fromEntries(variables) } : {}),
    cwd: folder,
    ...(box ? { sandbox: boxFor(folder, options, values, box) } : {}),
  };
}

/** Folders that the user has chosen can be written to, files can be read. */
function boxFor(
  folder: string,
  options: BundleManifest["user_config"],
  values: TemplateValues,
  { network }: { network: boolean },
) {
  const pathsOf = (type: BundleOption["type"]) =>
    Object.entries(options).flatMap(([name, option]) => (option.type === type ? [...(values.get(name) ?? [])] : []));
  const write = pathsOf("directory").filter((path) => path !== "");
  const read = [folder, ...pathsOf("file").filter((path) => path !== "")];
  return { read, ...(write.length > 0 ? { write } : {}), ...(network ? { network } : {}) };
}

/** The files of the archive that are started. */
export function programsOf(manifest: BundleManifest): string[] {
  const { entry_point: entry, mcp_config: config, type } = manifest.server;
  const commands = [
    config.command,
    ...Object.values(config.platform_overrides ?? {}).map(({ command }) => command ?? ""),
  ];
  const inside = commands.map((command) => command.replace(/^\$\{__dirname\}[\\/]/, ""));
  return [...(type === "binary" ? [entry] : []), ...inside].filter(
    (path) => path !== "" && !isAbsolute(path) && !path.split(/[\\/]/).includes(".."),
  );
}

/** Some bundles name their program without `${__dirname}`. */
function isInBundle(command: string, { server }: BundleManifest): boolean {
  return (
    server.type === "binary" &&
    command === server.entry_point &&
    !isAbsolute(command) &&
    !command.split(/[\\/]/).includes("..")
  );
}

type Places = Record<string, string>;

function placesOf(env: Environment): Places {
  const home = homeOf(env);
  return {
    HOME: home,
    DESKTOP: join(home, "Desktop"),
    DOCUMENTS: join(home, "Documents"),
    DOWNLOADS: join(home, "Downloads"),
    pathSeparator: sep,
    "/": sep,
  };
}

const reference = /\$\{([^{}]*)\}/g;

function usedIn(template: string): string[] {
  return Array.from(template.matchAll(reference), ([, name = ""]) => name)
    .filter((name) => name.startsWith("user_config."))
    .map((name) => name.slice("user_config.".length));
}

function valuesOf(name: string, values: TemplateValues): readonly string[] {
  return (values.get(name) ?? []).filter((each) => each !== "");
}

/**
 * Fills in places and values. Any other reference would be read as one of our config, whose variables and secrets a bundle must not choose.
 */
function filled(template: string, places: Places, values: TemplateValues = new Map()): string {
  const rest = template.replace(reference, "");
  if (rest.includes("${")) throw unknown(template);
  return template.replace(reference, (whole, name: string) => {
    if (Object.hasOwn(places, name)) return places[name] ?? "";
    if (!name.startsWith("user_config.")) throw unknown(whole);
    return valuesOf(name.slice("user_config.".length), values).join(",");
  });
}

function unknown(text: string): ClaudikinsError {
  return new ClaudikinsError(
    "CONFIG_INVALID",
    `The manifest refers to ${text.slice(0, 100)}, which bundles do not have`,
    {
      hint: `It may use \${__dirname}, \${HOME} and \${user_config.…}. Ask its author to correct it.`,
    },
  );
}
