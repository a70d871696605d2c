/**
 * Finds the details of a published server that a person must see before it is added. `--yes` alone does not accept them. They are
 * everything except a package or an address with plain words. A plain word names no file, no other machine and no program.
 */
import type { PublishedServer } from "./published.ts";
import { isSource } from "./runtime-options.ts";
import { shownTemplate, type Template, type TemplateValues, wantedIn } from "./templates.ts";
import type { Variant, VariantArgument } from "./variant.ts";
import { wantedOfVariant } from "./variants.ts";

/** Returns sentences; empty if there is nothing. `values` are the user's. */
export function mustBeSeen(
  { status }: Pick<PublishedServer, "status">,
  variant: Variant,
  values: TemplateValues,
): string[] {
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

/** A word or a list of words. Numbers are short, so that they are no addresses. */
const isPlain = (text: string) =>
  /^(?:[A-Za-z_][\w-]{0,63}(?:,[A-Za-z_][\w-]{0,63})*|-?\d{1,7}|0\.\d{1,6})$/.test(text);

function hasPlainText(template: Template): boolean {
  const fixed = template.filter((part) => typeof part === "string");
  if (wantedIn(template).length === 0) return fixed.every((text) => isPlain(text.replace(/^[A-Z_]\w*=/, "")));
  // The scheme of a header, such as `Bearer `, or the name of a variable.
  return fixed.every((text) => /^[A-Za-z_]{0,30}[= ]?$/.test(text));
}
