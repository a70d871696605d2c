/** What a person sees of a published server before it is added: what it is, what it runs or reaches, and what it needs. */

import { defined } from "../../base/json-object.ts";
import type { ValueOf } from "../../base/json-shape.ts";
import { oneLine } from "../../base/visible-text.ts";
import type { ServerPolicy } from "../../config/policy.ts";
import { visible } from "../../policy/hidden-characters.ts";
import { entryOf } from "../../setup/registries/entry.ts";
import type { PublishedServer } from "../../setup/registries/published.ts";
import type { Registry } from "../../setup/registries/registries.ts";
import { shownTemplate, type TemplateValues, type Wanted } from "../../setup/registries/templates.ts";
import type { Variant } from "../../setup/registries/variant.ts";
import { wantedOfVariant } from "../../setup/registries/variants.ts";
import { warningLabel } from "../terminal/terminal-output.ts";
import type { reviewShape } from "./flags.ts";

export interface Review {
  server: PublishedServer;
  registry: Registry;
  variant: Variant;
  /** All usable variants. */
  variants: readonly Variant[];
  refused: readonly string[];
  /** The values that are known so far. */
  values: TemplateValues;
  /** The key in the config. */
  name: string;
  policy: ServerPolicy | undefined;
}

export function reviewJson({
  server,
  registry,
  variant,
  variants,
  refused,
  values,
}: Review): ValueOf<typeof reviewShape> {
  const { name, version, title, description, status, statusMessage, publishedOn, repository, websiteUrl } = server;
  const optional = { title, statusMessage, publishedOn, repository: repository?.url, website: websiteUrl };
  return {
    name,
    version,
    description,
    registry: registry.url,
    status,
    ...defined(optional),
    via: variant.kind,
    ...("url" in variant
      ? {
          url: addressText(variant),
          sets: variant.headers.map((header) => `${header.name}: ${shownTemplate(header.value)}`),
        }
      : { command: commandOf(variant, values), sets: setBy(variant) }),
    needs: wantedOfVariant(variant).map((each) => ({
      name: each.name,
      required: each.isRequired,
      secret: each.isSecret,
      ...defined({ description: each.description, default: each.default, choices: each.choices?.slice() }),
      ...(isFromEnvironment(each, values) ? { fromEnvironment: true as const } : {}),
    })),
    warnings: [...variant.warnings],
    others: variants.filter((each) => each !== variant).map((each) => each.kind),
    refused: [...refused],
  };
}

/** Ends with an empty line. Texts of the registry are escaped, so that they cannot imitate our lines. */
export function reviewText(review: Review): string {
  const { server, registry, variant, variants, refused, name, policy } = review;
  const { description, title, version, status, statusMessage, publishedOn, repository, websiteUrl } = server;
  const namespace = server.name.slice(0, server.name.indexOf("/"));
  const others = variants.filter((each) => each !== variant).map((each) => each.kind);
  const facts: [string, string | undefined][] = [
    ["", [title, description].filter(Boolean).join(": ") || "It has no description."],
    [
      "registry",
      `${registry.name}${registry.name === "official" ? ", which anyone may publish to" : ` (${registry.url})`}`,
    ],
    ["publisher", `${namespace}${publishedOn === undefined ? "" : `, ${publishedOn}`}`],
    ["source", repository?.url ?? websiteUrl ?? "not given"],
    ["status", statusText(status, statusMessage)],
  ];
  const lines = [
    `${server.name} ${version}`,
    ...facts.flatMap(([label, fact]) =>
      fact === undefined ? [] : [`  ${label === "" ? "" : `${label}: `}${visible(fact)}`],
    ),
    "",
    ...("url" in variant
      ? [
          "It connects to:",
          `  ${visible(addressText(variant))} (${variant.kind === "sse" ? "HTTP with SSE" : "streamable HTTP"})`,
          ...variant.headers.map(({ name: header, value }) => `  ${visible(`${header}: ${shownTemplate(value)}`)}`),
          "What agents pass to its tools leaves your machine.",
        ]
      : [
          "It runs this program on your machine, with all of your rights, your files and the network:",
          `  ${visible(commandOf(variant, review.values).map(shownWord).join(" "))}`,
          ...setBy(variant).map((line) => `  with ${visible(line)}`),
        ]),
    ...variant.warnings.map((warning) => `${warningLabel} ${visible(warning)}`),
    "",
    ...needsLines(review),
    `In your config it is called ${visible(name)}. ${policyText(policy)}`,
    ...(others.length > 0 ? [`Other ways: ${others.map((each) => `--via ${each}`).join(", ")}`] : []),
    ...refused.map((reason) => `Not used: ${visible(reason)}`),
    "",
  ];
  return `${lines.join("\n")}\n`;
}

/** The variables of a program that the registry sets, at least in part. */
function setBy({ env }: Exclude<Variant, { url: unknown }>): string[] {
  return env
    .filter(({ value }) => value.some((part) => typeof part === "string"))
    .map(({ name, value }) => `${name}=${shownTemplate(value)}`);
}

function statusText(status: PublishedServer["status"], message: string | undefined): string | undefined {
  const why = message === undefined ? "" : `: ${message}`;
  if (status === "deprecated") return `DEPRECATED, its publisher advises against it${why}`;
  return status === "deleted" ? `DELETED${why}` : undefined;
}

function needsLines({ variant, values }: Review): string[] {
  const wanted = wantedOfVariant(variant);
  if (wanted.length === 0) return [];
  return ["It takes these values:", ...wanted.map((each) => `  ${visible(needLine(each, values))}`), ""];
}

function needLine(wanted: Wanted, values: TemplateValues): string {
  const { name, isRequired, isSecret, description, default: usual, choices } = wanted;
  const parts = [
    isRequired ? "required" : "optional",
    ...(isSecret ? ["secret"] : []),
    ...(choices
      ? [
          `one of ${choices
            .slice(0, 10)
            .map((choice) => oneLine(choice, 40))
            .join(", ")}${choices.length > 10 ? " …" : ""}`,
        ]
      : []),
    ...(usual === undefined ? [] : [`default ${JSON.stringify(usual)}`]),
    ...(isFromEnvironment(wanted, values) ? ["taken from your environment"] : values.has(name) ? ["given"] : []),
  ];
  return `${name} (${parts.join("; ")})${description === undefined ? "" : `: ${description}`}`;
}

/** Whether the value is a reference to the variable of the same name. */
function isFromEnvironment({ name }: Wanted, values: TemplateValues): boolean {
  return values.get(name)?.[0] === `\${${name}}`;
}

function policyText(policy: ServerPolicy | undefined): string {
  const lines = policy
    ? [
        ...policy.allow,
        ...policy.deny,
        ...policy.confirm,
        ...(policy.userConfirm ?? []),
        ...(policy.doorConfirm ?? []),
      ].map(({ line }) => line)
    : [];
  if (lines.length === 0)
    return "Your policy has no rule for it, so agents may call all of its tools without asking you.";
  return `Rules for its tools: ${visible([...new Set(lines)].join("; "))}.`;
}

function addressText(variant: Extract<Variant, { url: unknown }>): string {
  return shownTemplate(variant.url);
}

/** The command line as far as it is known. Secrets and missing values are shown by their names. */
function commandOf(variant: Exclude<Variant, { url: unknown }>, values: TemplateValues): string[] {
  const shown = new Map(
    wantedOfVariant(variant).map(({ name, isSecret, isRequired, default: usual }): [string, string[]] => {
      const known = isSecret ? undefined : values.get(name);
      return [name, known ? [...known] : isRequired || isSecret ? [`<${name}>`] : usual === undefined ? [] : [usual]];
    }),
  );
  const { command, args } = entryOf(variant, shown) as { command: string; args: string[] };
  return [command, ...args];
}

/** Quotes a word as a shell would need it; angle brackets stay readable. */
function shownWord(word: string): string {
  return /^[\w@%+=:,./<>${}-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
