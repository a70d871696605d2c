/**
 * Parses the documents that registries publish about a server, in all formats since 2025-07-09: `server.json` and the registry's additions.
 * The documents come from strangers, so they are checked and bounded before they are used.
 */
import { z } from "zod";
import { isObject, type JsonObject } from "../../base/json-object.ts";
import { oneLine } from "../../base/visible-text.ts";

/** Characters of a word or value that goes into a command line, a header or an address. In the official registry, they have at most 80. */
const maxPublishedValueChars = 500;

/** Arguments, headers, variables or choices of one server. */
const maxInputs = 100;

/** Characters of the name of a server. */
const maxPublishedNameChars = 200;

/** Levels of a description. No known form is deeper than half of this. */
const maxPublishedDepth = 20;

const value = z.string().max(maxPublishedValueChars);

/** A text that is only shown. */
const shown = (maxChars: number) =>
  z
    .string()
    .transform((text) => oneLine(text, maxChars) || undefined)
    .optional();

const webAddress = z
  .string()
  .transform((text) => (isWebAddress(text) ? new URL(text).href : undefined))
  .optional();

const inputKeys = {
  description: shown(200),
  placeholder: shown(100),
  isRequired: z.boolean().default(false),
  isSecret: z.boolean().default(false),
  format: z.enum(["string", "number", "boolean", "filepath"]).catch("string"),
  value: value.optional(),
  default: value.optional(),
  choices: z.array(value).max(maxInputs).optional(),
};

const input = z.object(inputKeys);

const withVariables = {
  ...inputKeys,
  variables: z
    .record(z.string().max(100), input)
    .refine((variables) => Object.keys(variables).length <= maxInputs, `more than ${maxInputs} variables`)
    .optional(),
};

const keyValue = z.object({ ...withVariables, name: z.string().max(100) });

const argument = z.discriminatedUnion("type", [
  z.object({
    ...withVariables,
    type: z.literal("positional"),
    valueHint: value.optional(),
    isRepeated: z.boolean().default(false),
  }),
  z.object({
    ...withVariables,
    type: z.literal("named"),
    name: z.string().min(1).max(100),
    isRepeated: z.boolean().default(false),
  }),
]);

const argumentList = z.array(argument).max(maxInputs).default([]);
const keyValues = z.array(keyValue).max(maxInputs).default([]);

const packageSchema = z.object({
  registryType: z.string().max(50),
  registryBaseUrl: z.string().max(500).optional(),
  identifier: value,
  version: z.string().max(255).optional(),
  runtimeHint: z.string().max(50).optional(),
  transport: z.object({ type: z.string().max(50) }).default({ type: "stdio" }),
  runtimeArguments: argumentList,
  packageArguments: argumentList,
  environmentVariables: keyValues,
});

const remoteSchema = z.object({
  type: z.string().max(50),
  url: value,
  headers: keyValues,
  variables: withVariables.variables,
});

/** The form of the specification. Nothing else counts as the name of a server. */
export const fullName = /^[a-zA-Z0-9][a-zA-Z0-9.-]*\/[a-zA-Z0-9._-]+$/;

/** Printable ASCII, so that a version can be typed after `@` and looks like what it is. */
export const serverVersion = /^[\w.][\w.+~-]{0,254}$/;

const summaryKeys = {
  name: z.string().max(maxPublishedNameChars).regex(fullName, "not a server name"),
  title: shown(100),
  description: shown(300).default(""),
  version: z.string().regex(serverVersion, "not a version"),
};

const summarySchema = z.object(summaryKeys);

const serverSchema = z.object({
  ...summaryKeys,
  repository: z.object({ url: webAddress, subfolder: shown(200) }).optional(),
  websiteUrl: webAddress,
  packages: z.array(packageSchema).max(50).default([]),
  remotes: z.array(remoteSchema).max(50).default([]),
});

export type PublishedInput = z.infer<typeof input>;
export type PublishedKeyValue = z.infer<typeof keyValue>;
export type PublishedArgument = z.infer<typeof argument>;
export type PublishedPackage = z.infer<typeof packageSchema>;
export type PublishedRemote = z.infer<typeof remoteSchema>;

/** The registry's facts about a version. */
export interface PublishedStatus {
  status: "active" | "deprecated" | "deleted";
  statusMessage?: string | undefined;
  /** The day, such as `2025-11-02`. */
  publishedOn?: string | undefined;
  isLatest?: boolean | undefined;
}

export type PublishedSummary = z.infer<typeof summarySchema> & PublishedStatus;
export type PublishedServer = z.infer<typeof serverSchema> & PublishedStatus;

/** Returns undefined for an entry of a list that is not a server. */
export function summaryOf(item: unknown): PublishedSummary | undefined {
  const { document, standing } = partsOf(item);
  const { data } = summarySchema.safeParse(document, { jitless: true });
  return data && { ...data, ...standing };
}

/** Returns the server, or the problem with its description, as a path and a text. */
export function publishedServer(
  item: unknown,
): { server: PublishedServer; problem?: undefined } | { server?: undefined; problem: string } {
  const { document, standing } = partsOf(item);
  const { data, error } = serverSchema.safeParse(document, { jitless: true });
  if (data) return { server: { ...data, ...standing } };
  const [issue] = error.issues;
  const path = (issue?.path ?? [])
    .map((part) => (typeof part === "number" ? `[${part}]` : `.${String(part)}`))
    .join("");
  return { problem: oneLine(`${path.replace(/^\./, "") || "the document"}: ${issue?.message ?? "not valid"}`, 300) };
}

/** Newer registries wrap the publisher's document, and put their own facts beside it. */
function partsOf(item: unknown): { document: unknown; standing: PublishedStatus } {
  const outer = isObject(item) ? item : {};
  const inner = isObject(outer["server"]) ? outer["server"] : outer;
  const document = camelCased(inner);
  return {
    document: isObject(document) ? current(document) : document,
    standing: standingOf(outer, inner),
  };
}

const officialKey = "io.modelcontextprotocol.registry/official";

function standingOf(outer: JsonObject, inner: JsonObject): PublishedStatus {
  const said = [outer, inner].map(({ _meta: meta }) => (isObject(meta) ? meta[officialKey] : undefined)).find(isObject);
  const { status = inner["status"], statusMessage, publishedAt, isLatest } = camelCased(said ?? {}) as JsonObject;
  const day = typeof publishedAt === "string" ? /^\d{4}-\d\d-\d\d/.exec(publishedAt)?.[0] : undefined;
  return {
    status: status === "deprecated" || status === "deleted" ? status : "active",
    ...(typeof statusMessage === "string" ? { statusMessage: oneLine(statusMessage, 500) || undefined } : {}),
    ...(day === undefined ? {} : { publishedOn: day }),
    ...(typeof isLatest === "boolean" ? { isLatest } : {}),
  };
}

/** Keys as they are written since 2025-09-16. The names of variables stay, and so do the contents of `_meta`. Nulls are dropped. */
function camelCased(json: unknown, depth = 0): unknown {
  if (depth > maxPublishedDepth) return undefined;
  if (Array.isArray(json)) return json.map((each) => camelCased(each, depth + 1));
  if (!isObject(json)) return json;
  return Object.fromEntries(
    Object.entries(json).flatMap(([key, each]) => {
      if (each === null) return [];
      const name = key === "_meta" ? key : key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
      if (name === "variables" && isObject(each)) {
        return [[name, Object.fromEntries(Object.entries(each).map(([own, of]) => [own, camelCased(of, depth + 2)]))]];
      }
      // Some registries do not check types: `default: 8080`.
      const isText = ["default", "value"].includes(name) && ["number", "boolean"].includes(typeof each);
      return [[name, isText ? String(each) : key === "_meta" ? each : camelCased(each, depth + 1)]];
    }),
  );
}

/** Renames keys that had other names until 2025-09-16. */
function current(document: JsonObject): JsonObject {
  const { versionDetail, packages, remotes, ...rest } = document;
  const version = rest["version"] ?? (isObject(versionDetail) ? versionDetail["version"] : undefined);
  return {
    ...rest,
    ...(version === undefined ? {} : { version }),
    ...listed("packages", packages, currentPackage),
    ...listed("remotes", remotes, currentRemote),
  };
}

function listed(key: string, list: unknown, change: (item: JsonObject) => JsonObject): JsonObject {
  if (!Array.isArray(list)) return list === undefined ? {} : { [key]: list };
  return { [key]: list.map((each) => (isObject(each) ? change(each) : each)) };
}

const currentTypes: Readonly<Record<string, string>> = { docker: "oci", python: "pypi" };

function currentPackage(given: JsonObject): JsonObject {
  const { registryName, name, ...rest } = given;
  const type = rest["registryType"] ?? registryName;
  const identifier = rest["identifier"] ?? name;
  return {
    ...rest,
    ...(identifier === undefined ? {} : { identifier }),
    ...(typeof type === "string" ? { registryType: currentTypes[type] ?? type } : {}),
    ...(rest["version"] === "" ? { version: undefined } : {}),
    ...typed("runtimeArguments"),
    ...typed("packageArguments"),
  };

  /** Some registries leave out the type of an argument. */
  function typed(key: string): JsonObject {
    const list = rest[key];
    if (!Array.isArray(list)) return {};
    return {
      [key]: list.map((each) => {
        if (!isObject(each) || each["type"]) return each;
        const isNamed = typeof each["name"] === "string" && each["name"].startsWith("-");
        return { ...each, type: isNamed ? "named" : "positional" };
      }),
    };
  }
}

function currentRemote({ transportType, ...rest }: JsonObject): JsonObject {
  const type = rest["type"] ?? transportType;
  return {
    ...rest,
    ...(type === undefined ? {} : { type: type === "streamable" || type === "http" ? "streamable-http" : type }),
  };
}

function isWebAddress(text: string): boolean {
  if (text.length > 500 || !URL.canParse(text)) return false;
  const { protocol, username, password } = new URL(text);
  return /^https?:$/.test(protocol) && username === "" && password === "";
}
