/** The consent of a person to a server from a registry: when it is not needed, and to the folders that a container would get. */
import { ClaudikinsError } from "../../base/errors.ts";
import { expand } from "../../config/expand.ts";
import { visible } from "../../policy/hidden-characters.ts";
import { isOfSystem } from "../../setup/registries/mounts.ts";
import type { PublishedServer } from "../../setup/registries/published.ts";
import { isSource } from "../../setup/registries/runtime-options.ts";
import {
  shownTemplate,
  type Template,
  type TemplateValues,
  type Wanted,
  wantedIn,
} from "../../setup/registries/templates.ts";
import type { Variant, VariantArgument } from "../../setup/registries/variant.ts";
import { wantedOfVariant } from "../../setup/registries/variants.ts";
import type { Io } from "../io.ts";
import { canAsk, confirm } from "../terminal/prompt.ts";
import type { ChosenServer, Wish } from "./find-server.ts";

/** The error if `--yes` is not about one exact version, or a registry is in doubt. */
export function unclear({ server, unsure }: ChosenServer, { version, isFullName }: Wish): ClaudikinsError | undefined {
  if (!isFullName || version === undefined) {
    return new ClaudikinsError("USAGE", "--yes needs the exact name and version of the server", {
      hint: `For the version shown: claudikins add ${server.name}@${server.version} --yes`,
    });
  }
  const [first] = unsure;
  if (!first) return undefined;
  return new ClaudikinsError(
    first.error.code,
    `${first.error.message}, so it is not clear whether it has ${server.name}`,
    {
      hint: "Choose a registry with --registry.",
    },
  );
}

/** The error if `--yes` would accept what a person should see. */
export function unseen({ server }: ChosenServer, variant: Variant, known: TemplateValues): ClaudikinsError | undefined {
  const facts = mustBeSeen(server, variant, known);
  if (facts.length === 0) return undefined;
  const lines = facts.map((fact) => `\n  ${visible(fact)}`).join("");
  return new ClaudikinsError("POLICY_DENIED", `--yes is not enough for what a person should see:${lines}`, {
    hint: `Run it in your own terminal: claudikins add ${server.name}@${server.version}`,
  });
}

export function needsPerson({ server }: ChosenServer): ClaudikinsError {
  return new ClaudikinsError(
    "POLICY_DENIED",
    "Only a person can add a server from a registry, and this command has no terminal",
    {
      // The flag that needs no person is in the documentation only: an agent would follow a hint.
      hint: `Run it in your own terminal: claudikins add ${server.name}`,
    },
  );
}

/** Whether the user agrees, or there is nothing to agree to. Throws CANCELLED. */
export async function agreesToFolders(wanted: readonly Wanted[], values: TemplateValues, io: Io): Promise<boolean> {
  const folders = wanted
    .filter(({ isTyped, isInMount }) => isTyped && isInMount)
    .flatMap(({ name }) => values.get(name) ?? []);
  if (folders.length === 0) return true;
  const lines = folders.map((folder) => {
    const path = expand(folder, io.env).value;
    const now = path === folder ? "" : ` (now ${path})`;
    return `  ${visible(folder + now)}${isOfSystem(path) ? ", which is a part of the system" : ""}\n`;
  });
  await io.stderr.write(`\nIts container gets from this machine, with everything in it:\n${lines.join("")}`);
  return canAsk(io) && confirm(io, "Is that right?");
}

/** Returns sentences; empty if there is nothing. `values` are the user's. */
function mustBeSeen({ status }: Pick<PublishedServer, "status">, variant: Variant, values: TemplateValues): string[] {
  const proposals = wantedOfVariant(variant).flatMap(({ name, default: usual }) =>
    usual === undefined || values.has(name) || isPlain(usual)
      ? []
      : [`The registry proposes ${JSON.stringify(usual)} for ${name}.`],
  );
  return [
    ...(status === "active" ? [] : ["Its publisher advises against it."]),
    ...variant.warnings,
    ...("url" in variant ? variant.headers.flatMap(fixedValue) : seenOfProgram(variant)),
    ...proposals,
  ];
}

function seenOfProgram({ runtime, options, args, env }: Exclude<Variant, { url: unknown }>): string[] {
  return [
    ...options
      .filter((option) => !isUnremarkable(option))
      .map((option) => `It passes options to ${runtime}: ${shownArgument(option)}`),
    ...args
      .filter(({ value = [] }) => !hasPlainText(value))
      .map((argument) => `It passes words to its program: ${shownArgument(argument)}`),
    ...env.flatMap(fixedValue),
  ];
}

/** Whether the option is a switch, names the package itself, or sets a variable of the container. */
function isUnremarkable(option: VariantArgument): boolean {
  const { flag = "", value } = option;
  const isVariable = (flag === "-e" || flag === "--env") && hasPlainText(value ?? []);
  return value === undefined || isSource(option) || isVariable;
}

function fixedValue({ name, value }: { name: string; value: Template }): string[] {
  return hasPlainText(value) ? [] : [`It sets ${name}: ${shownTemplate(value)}`];
}

function shownArgument({ flag, value }: VariantArgument): string {
  return [flag, value && shownTemplate(value)].filter(Boolean).join(" ");
}

/** A word or a list of words. Numbers are short, because a long one can be an address. */
const isPlain = (text: string) =>
  /^(?:[A-Za-z_][\w-]{0,63}(?:,[A-Za-z_][\w-]{0,63})*|-?\d{1,7}|0\.\d{1,6})$/.test(text);

function hasPlainText(template: Template): boolean {
  const fixed = template.filter((part) => typeof part === "string");
  if (wantedIn(template).length === 0) return fixed.every((text) => isPlain(text.replace(/^[A-Z_]\w*=/, "")));
  // The scheme of a header, such as `Bearer `, or the name of a variable.
  return fixed.every((text) => /^[A-Za-z_]{0,30}[= ]?$/.test(text));
}
