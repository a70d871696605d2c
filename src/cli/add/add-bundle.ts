/** Adds a server from a bundle (`.mcpb`): shows its manifest, asks once, asks for its values, and unpacks it. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { counted } from "../../base/counted.ts";
import { ClaudikinsError, toClaudikinsError } from "../../base/errors.ts";
import { homeOf } from "../../config/locations.ts";
import { visible } from "../../policy/hidden-characters.ts";
import { requireBubblewrap } from "../../servers/box/bubblewrap.ts";
import { Archive, discardBundle } from "../../setup/bundles/archive.ts";
import { bundleFolder, bundleKey, entryOf, programsOf, wantedOf } from "../../setup/bundles/entry.ts";
import { type BundleManifest, readManifest } from "../../setup/bundles/manifest.ts";
import type { Wanted } from "../../setup/registries/templates.ts";
import type { NewServer } from "../../setup/settings/add-server.ts";
import type { AddContext } from "../from-registry/add-published.ts";
import { allValues, knownValues } from "../from-registry/values.ts";
import type { Io } from "../io.ts";
import { canAsk, confirm } from "../terminal/prompt.ts";
import { warningLabel } from "../terminal/terminal-output.ts";

/** Tools that the review names. */
const maxNamedTools = 20;

export interface BundleContext extends Omit<AddContext, "near"> {
  /** The name in the config that was given before the path. */
  name: string | undefined;
  /** What `--sandbox` and `--no-sandbox` say. */
  isConfined: boolean | undefined;
}

/** Throws FILE_NOT_FOUND, USAGE, CONFIG_INVALID, POLICY_DENIED, NEEDS_VARIABLE and CANCELLED. `discard` deletes what was unpacked. */
export async function addBundle(file: string, context: BundleContext, io: Io): Promise<NewServer> {
  const { args, configFile, env, isChecked } = context;
  if (args.via !== undefined || args.registry.length > 0) {
    throw new ClaudikinsError("USAGE", "--via and --registry do not apply to a bundle", {
      hint: "See claudikins add --help",
    });
  }
  const archive = new Archive(resolve(io.cwd, file.replace(/^~(?=$|\/)/, homeOf(io.env))), file);
  const manifest = readManifest(archive.manifest(), file, process.platform);
  const server = context.name ?? args.as ?? bundleKey(manifest);
  context.checkFree(server);
  const wanted = wantedOf(manifest, io.env);
  const known = knownValues(wanted, { set: args.set, env, fromEnvironment: false }, io);
  const box = await boxFor(context, io);
  const isAsked = canAsk(io) && !args.json;
  if (!args.json) await io.stderr.write(reviewText(manifest, { file, server, wanted, box }));
  if (!args.yes) {
    if (!isAsked) throw needsPerson(file);
    await io.stdin.dropTyped();
    if (!(await confirm(io, "Add it?"))) throw new ClaudikinsError("CANCELLED", "Nothing was added");
  }
  const takesSecrets = configFile.kind === "user";
  const values = await allValues(wanted, known, { isAsked, takesSecrets, lenient: !isChecked && !args.yes }, io);
  const owner = { config: configFile.file, server };
  const folder = bundleFolder(owner, archive.digest, io.env);
  const entry = entryOf(manifest, { folder, values, env: io.env, platform: process.platform, box: box.box });
  const isNew = !existsSync(folder);
  archive.unpack(folder, owner, programsOf(manifest));
  const extra = Object.fromEntries([...env].map(([key, value]) => [key, value ?? `\${${key}}`]));
  const variables = { ...(entry["env"] as object | undefined), ...extra };
  return {
    name: server,
    entry: { ...entry, ...(Object.keys(variables).length > 0 ? { env: variables } : {}) },
    notes:
      configFile.kind === "project"
        ? ["its files are on this machine only: others have to add the bundle themselves"]
        : [],
    ...(isNew ? { discard: () => discardBundle(folder, owner, io.env) } : {}),
  };
}

/** The box of a bundle, or why it has none. */
type BoxChoice = { box: { network: boolean } } | { box: undefined; why: string };

/** Without a flag, a bundle has a box with the network wherever boxes can be made. */
async function boxFor({ isConfined }: BundleContext, { env }: Io): Promise<BoxChoice> {
  if (isConfined === false) return { box: undefined, why: "--no-sandbox" };
  if (isConfined) return { box: { network: false } };
  try {
    await requireBubblewrap(env["PATH"]);
    return { box: { network: true } };
  } catch (thrown) {
    return { box: undefined, why: toClaudikinsError(thrown).message.replace(/^its sandbox cannot be made: /, "") };
  }
}

interface Review {
  file: string;
  server: string;
  wanted: readonly Wanted[];
  box: BoxChoice;
}

/** Ends with an empty line. Texts of the bundle are escaped, so that they cannot imitate our lines. */
function reviewText(manifest: BundleManifest, { file, server, wanted, box }: Review): string {
  const { author, homepage, license, repository, tools, server: program } = manifest;
  const { command, args } = { ...program.mcp_config, ...program.mcp_config.platform_overrides?.[process.platform] };
  const names = tools.slice(0, maxNamedTools).map(({ name }) => name);
  const more = tools.length > names.length ? `, and ${tools.length - names.length} more` : "";
  const facts: [string, string | undefined][] = [
    ["", [manifest.display_name, manifest.description].filter(Boolean).join(": ") || "It has no description."],
    ["author", author?.name === undefined ? "not given" : [author.name, author.url].filter(Boolean).join(", ")],
    ["source", repository?.url ?? homepage ?? "not given"],
    ["license", license],
    [counted(tools.length, "tool"), tools.length === 0 ? undefined : `${names.join(", ")}${more}`],
  ];
  const lines = [
    `${visible(manifest.name)} ${visible(manifest.version)}, from ${file}`,
    ...facts.flatMap(([label, fact]) =>
      fact === undefined ? [] : [`  ${label === "" ? "" : `${label}: `}${visible(fact)}`],
    ),
    "  All of this is what its author says; nothing was verified.",
    "",
    "It runs this program on your machine:",
    `  ${visible([command, ...(args ?? [])].join(" "))}`,
    boxLine(box),
    "",
    ...(wanted.length === 0 ? [] : ["It needs:", ...wanted.map(wantedLine), ""]),
    `In your config it is called ${visible(server)}.`,
    "",
  ];
  return `${lines.join("\n")}\n`;
}

function boxLine(choice: BoxChoice): string {
  if (!choice.box)
    return `${warningLabel} it has all of your rights, your files and the network, because it has no sandbox: ${choice.why}`;
  const network = choice.box.network ? "and the network" : "and no network";
  return `Its sandbox shows it its own files, the files and folders that you choose below, ${network}.`;
}

function wantedLine({ name, description, isRequired, isSecret }: Wanted): string {
  const kind = [isRequired ? "required" : "optional", ...(isSecret ? ["secret"] : [])].join(", ");
  return visible(`  ${name} (${kind})${description === undefined ? "" : `: ${description}`}`);
}

function needsPerson(file: string): ClaudikinsError {
  return new ClaudikinsError("POLICY_DENIED", "Only a person can add a bundle, and this command has no terminal", {
    // The flag that needs no person is in the documentation only: an agent would follow a hint.
    hint: `Run it in your own terminal: claudikins add ${file}`,
  });
}
