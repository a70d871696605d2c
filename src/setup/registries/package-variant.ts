/** How a published package is started: by npx, uvx, dnx or docker, in exactly the published version. */

import { oneLine } from "../../base/visible-text.ts";
import { mountFlags } from "./mounts.ts";
import type { PublishedArgument, PublishedKeyValue, PublishedPackage } from "./published.ts";
import { checkedOptions, isSource, type Runtime, type RuntimeOption } from "./runtime-options.ts";
import {
  checkText,
  offersOf,
  RegistryRefusal,
  shownTemplate,
  type Template,
  templateOf,
  type Wanted,
  wantedIn,
  wantedOf,
} from "./templates.ts";
import { checkSets, kindOfVariable, type VariableKind } from "./variable-names.ts";
import type { ProgramVariant, VariantArgument } from "./variant.ts";

/** Characters of the fixed parts of a command line, so that a person can read it. */
const maxCommandChars = 2_000;

interface PackageType {
  kind: ProgramVariant["kind"];
  runtime: Runtime;
  /** The addresses of the public registry, which the runtime uses by itself. */
  homes: readonly string[];
  /** The package with its version. Throws RegistryRefusal. */
  spec(identifier: string, version: string | undefined): string;
}

const npmName = /^(?:@[a-z0-9~][a-z0-9._~-]*\/)?[a-z0-9~][a-z0-9._~-]*$/i;
const semver = /^v?\d+\.\d+\.\d+(?:\.\d+)?(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?$/;
const pythonName = /^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?(?:\[[A-Za-z0-9_,-]+\])?$/;
const pythonVersion = /^v?\d[0-9A-Za-z.!+_-]*$/;
const nugetName = /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/;
/** A host, a path in lower case, a tag and a digest. */
const image =
  /^(?:[a-z0-9.-]+(?::\d+)?\/)?[a-z0-9]+(?:[._/-]+[a-z0-9]+)*(?::[\w][\w.-]{0,127})?(?:@sha256:[a-f0-9]{64})?$/;

const types: Readonly<Record<string, PackageType>> = {
  npm: {
    kind: "npm",
    runtime: "npx",
    homes: ["https://registry.npmjs.org"],
    spec: (identifier, version) => pinned(identifier, npmName, version, semver, "@"),
  },
  pypi: {
    kind: "pypi",
    runtime: "uvx",
    homes: ["https://pypi.org", "https://pypi.org/simple"],
    spec: (identifier, version) => pinned(identifier, pythonName, version, pythonVersion, "@"),
  },
  nuget: {
    kind: "nuget",
    runtime: "dnx",
    homes: ["https://api.nuget.org", "https://api.nuget.org/v3", "https://api.nuget.org/v3/index.json"],
    spec: (identifier, version) => pinned(identifier, nugetName, version, semver, "@"),
  },
  oci: {
    kind: "oci",
    runtime: "docker",
    homes: [
      "https://docker.io",
      "https://registry-1.docker.io",
      "https://registry.hub.docker.com",
      "https://hub.docker.com",
    ],
    spec: (identifier, version) => {
      const hasTag = /:[^/]*$/.test(identifier);
      const whole = hasTag || version === undefined ? identifier : `${identifier}:${version}`;
      if (identifier.startsWith("-") || !image.test(whole))
        throw new RegistryRefusal("its name is not the name of an image");
      return whole;
    },
  },
};

/** Kinds of packages that claudikins does not start. */
const unsupported: Readonly<Record<string, string>> = {
  mcpb: "claudikins does not install bundles (.mcpb), which must be downloaded and unpacked first",
  cargo: "a Rust package must be installed first: cargo install, and then claudikins add NAME -- PROGRAM",
  go: "a Go module must be installed first: go install, and then claudikins add NAME -- PROGRAM",
  maven: "claudikins does not start Java packages",
};

/** Throws RegistryRefusal. */
export function packageVariant(published: PublishedPackage): ProgramVariant {
  const { registryType, identifier, registryBaseUrl, transport } = published;
  const type = Object.hasOwn(types, registryType) ? types[registryType] : undefined;
  if (!type) {
    const known = Object.hasOwn(unsupported, registryType) ? unsupported[registryType] : undefined;
    throw new RegistryRefusal(known ?? "claudikins does not know this kind of package");
  }
  if (transport.type !== "stdio") {
    throw new RegistryRefusal("it serves HTTP, and claudikins starts only programs that speak over stdin and stdout");
  }
  const version = published.version === "latest" ? undefined : published.version;
  const { home, name } = placeOf(type, identifier, registryBaseUrl);
  if (!home)
    throw new RegistryRefusal(
      "it comes from a private package registry, which the settings of your package manager must name",
    );
  const spec = type.spec(name, version);
  const own = { identifier, version };
  const { before, extras, after } = split(published.runtimeArguments, type.kind, identifier);
  const options = checkedOptions(before.map(optionOf), type.runtime, own);
  const args = [...after, ...published.packageArguments].flatMap(argumentOf);
  const isPinned =
    version !== undefined || (type.kind === "oci" && /@sha256:|:[^/]*$/.test(spec) && !spec.endsWith(":latest"));
  const all: ProgramVariant = {
    kind: type.kind,
    runtime: type.runtime,
    ...started(withExtras(spec, extras), options, args),
    env: published.environmentVariables.map(variableOf),
    warnings: isPinned ? [] : ["Its version is not fixed: each start may run a newer one."],
  };
  checkLength(all);
  return { ...all, warnings: [...all.warnings, ...warningsOf(all)] };
}

function checkLength({ spec, options, args }: ProgramVariant): void {
  const words = [...options, ...args].flatMap(({ flag = "", value = [] }) => [flag, ...value]);
  const length = words.reduce(
    (sum, word) => sum + (typeof word === "string" ? word : word.name).length + 1,
    spec.length,
  );
  if (length > maxCommandChars) throw new RegistryRefusal("its command line is too long to be read");
}

/**
 * Returns the package to start, with its options and arguments. If the options name the package, the word after them is its program.
 * If no word follows, the first argument is its program.
 */
function started(
  spec: string,
  options: readonly RuntimeOption[],
  args: readonly VariantArgument[],
): Pick<ProgramVariant, "spec" | "options" | "args"> {
  const others = options.filter((option) => option.flag !== undefined && !isSource(option));
  const shown = others.map((option) => ({ ...option, isOptional: isOptional(option.value) }));
  const source = options.find(isSource);
  if (!source) return { spec, options: shown, args };
  const named = options.find(({ flag }) => flag === undefined)?.value;
  const first = args[0]?.flag === undefined && args[0]?.value?.length === 1 ? args[0].value[0] : undefined;
  const program = named?.[0] ?? first;
  if (typeof program !== "string" || program.startsWith("-")) {
    throw new RegistryRefusal("it does not say which program of its package is started");
  }
  const whole = withExtras(spec, extrasOf(String(source.value?.[0])));
  return {
    spec: program,
    options: [...shown, { flag: source.flag, value: [whole], isOptional: false }],
    args: named === undefined ? args.slice(1) : args,
  };
}

/** Some publishers repeat the package among the options. The rest are arguments of the program. */
function split(list: readonly PublishedArgument[], kind: ProgramVariant["kind"], identifier: string) {
  const at = list.findIndex(
    ({ type, value }) => type === "positional" && value !== undefined && bare(value, kind) === bare(identifier, kind),
  );
  if (at === -1) return { before: list, extras: "", after: [] };
  return { before: list.slice(0, at), extras: extrasOf(list[at]?.value ?? ""), after: list.slice(at + 1) };
}

/** The name of a package, without its version and its extras. */
function bare(name: string, kind: ProgramVariant["kind"]): string {
  if (kind !== "oci") return name.toLowerCase().replace(/(?<=.)(?:\[[^\]]*\])?(?:@[^/]*|==.*)?$/, "");
  return name
    .replace(/@.*$/, "")
    .replace(/:[^/]*$/, "")
    .replace(/^docker\.io\//, "");
}

/** `[cli]` in `name[cli]==1.0`. */
function extrasOf(spec: string): string {
  return /^[\w.-]+(\[[\w,-]{1,100}\])/.exec(spec)?.[1] ?? "";
}

function withExtras(spec: string, extras: string): string {
  return extras === "" || spec.includes("[") ? spec : spec.replace(/(?=@[^@]*$)|$/, extras);
}

/** Whether the package is in the runtime's default registry. An image has its host in its name. */
function placeOf(
  { kind, homes }: PackageType,
  identifier: string,
  base: string | undefined,
): { home: boolean; name: string } {
  const plain = base?.replace(/\/+$/, "");
  if (plain === undefined || homes.includes(plain)) return { home: true, name: identifier };
  const host = kind === "oci" && URL.canParse(plain) ? new URL(plain).host : undefined;
  if (host === undefined) return { home: false, name: identifier };
  return { home: true, name: identifier.startsWith(`${host}/`) ? identifier : `${host}/${identifier}` };
}

/** A runtime would look for such a file in the working directory, even with a version after the name. */
const fileEnding = /\.(?:tgz|tar|gz|zip|whl|py|nupkg)$/i;

function pinned(
  name: string,
  nameForm: RegExp,
  version: string | undefined,
  versionForm: RegExp,
  between: string,
): string {
  if (name.length > 214 || !nameForm.test(name) || fileEnding.test(name))
    throw new RegistryRefusal("its name is not the name of a package");
  if (version === undefined) return name;
  if (!versionForm.test(version)) throw new RegistryRefusal(`"${version}" is not one exact version`);
  return `${name}${between}${version}`;
}

const flagForm = /^-{0,2}[A-Za-z0-9_][\w.:-]*$/;

function flagOf(name: string): string {
  if (!flagForm.test(name)) throw new RegistryRefusal(`${JSON.stringify(name)} is not the name of an option`);
  return name;
}

/** Makes an option of the runtime. Options are checked by name, so the name may contain a value after `=`. */
function optionOf(argument: PublishedArgument): RuntimeOption {
  if (argument.type === "positional") return { value: templateOf(argument, positionalName(argument)) };
  const flag = checkText(argument.name, "an option");
  const value = templateOf(argument, argument.name);
  return argument.value === undefined ? { flag, asked: value } : { flag, value };
}

function argumentOf(argument: PublishedArgument): VariantArgument[] {
  const { isRepeated, isRequired } = argument;
  if (argument.type === "positional") {
    const hint = positionalName(argument);
    // If nothing describes the value, the hint itself is the word.
    if (argument.value === undefined && !isQuestion(argument)) {
      return [{ value: [checkText(hint, "an argument")], isOptional: false }];
    }
    const value = templateOf(argument, hint, { isRepeated });
    return [{ value, isOptional: isOptional(value) || (!isRequired && wantedIn(value).length > 0) }];
  }
  const flag = flagOf(argument.name);
  if (!hasValue(argument)) return [{ flag, isOptional: false }];
  const value = templateOf(argument, argument.name, { isRepeated });
  const isJoined = argument.format === "boolean" || ["true", "false"].includes(argument.default ?? "");
  return [{ flag, value, isJoined, isOptional: isOptional(value) || (!isRequired && wantedIn(value).length > 0) }];
}

function positionalName({ valueHint }: { valueHint?: string | undefined }): string {
  return valueHint === undefined || valueHint.trim() === "" ? "argument" : valueHint.trim();
}

/** Whether a person is asked for the value. */
function isQuestion({
  description,
  default: usual,
  placeholder,
  choices,
  format,
  isRequired,
  isSecret,
}: PublishedArgument): boolean {
  const described = [description, usual, placeholder, choices].some((each) => each !== undefined);
  return described || isRequired || isSecret || format !== "string";
}

/** Whether an option has a value. It has none if neither a value nor a description of one is published. */
function hasValue(argument: PublishedArgument): boolean {
  return argument.value !== undefined || isQuestion(argument);
}

function isOptional(value: Template | undefined): boolean {
  return wantedIn(value ?? []).some(({ isRequired }) => !isRequired);
}

function warningsOf({ options, args, env }: ProgramVariant): string[] {
  const warnings = new Set<string>();
  for (const { name } of env) {
    if (kindOfVariable(name) === "runtime") warnings.add(`${name} changes how programs run, and not only this one.`);
  }
  for (const { flag, value } of options) {
    const text = shownTemplate(value ?? []);
    if (mountFlags.includes(flag ?? "")) {
      const isFolder = wantedIn(value ?? []).some(({ isTyped }) => isTyped);
      warnings.add(`Its container gets a ${isFolder ? "folder" : "volume"} of this machine: ${text}`);
    }
    if ((flag === "--network" || flag === "--net") && !["bridge", "none"].includes(text)) {
      warnings.add(
        text === "host"
          ? "Its container uses the network of this machine, with everything that listens there."
          : `Its container joins the network ${text}, with everything that listens there.`,
      );
    }
    if (flag === "-p" || flag === "--publish") warnings.add(`Its container opens ports of this machine: ${text}`);
  }
  for (const { value } of args) {
    for (const { name, isSecret } of wantedIn(value ?? [])) {
      if (isSecret)
        warnings.add(`${name} is a secret on the command line, which other programs on this machine can see.`);
    }
  }
  return [...warnings];
}

/** Names of environment variables. */
const variableName = /^[A-Za-z_][\w.-]*$/;

/** A registry's value is used only for settings. Other variables get their value from the user. Throws RegistryRefusal. */
function variableOf(field: PublishedKeyValue): ProgramVariant["env"][number] {
  const { name } = field;
  if (!variableName.test(name)) throw new RegistryRefusal(`${JSON.stringify(name)} is not the name of a variable`);
  const kind = kindOfVariable(name);
  const given = templateOf(field, name, { isVariable: true });
  const isProposed = given.some((part) => typeof part === "string" || offersOf(part).length > 0);
  if (kind === "runtime" && isProposed) checkSets(name);
  const value = kind === "setting" || (kind === "unknown" && !isProposed) ? given : [typedVariable(field, kind)];
  return { name, value, isOptional: !field.isRequired && wantedIn(value).length > 0 };
}

/** The user types the whole value. The registry's proposal is at most shown as an example. */
function typedVariable(field: PublishedKeyValue, kind: VariableKind): Wanted {
  const proposal = oneLine(field.value ?? field.default ?? "", 100) || undefined;
  const placeholder = kind === "runtime" ? undefined : (field.placeholder ?? proposal);
  return wantedOf(field, field.name, { isVariable: true, isTyped: true, default: undefined, placeholder });
}
