/**
 * References to values that are read when they are needed: `${secret:NAME}` stands for a secret of the user, `${command:PROGRAM …}` for
 * the first line that a program prints, and `${kms:SERVICE KEY TEXT}` for a value that a key management service has encrypted.
 */
import { isObject, withTexts } from "../../base/json-object.ts";

const anyReference = /\$\{(?:secret|command|kms):/;

/** Key management services: those of AWS, Google and Azure, and the transit engine of Vault. */
export const kmsNames = ["aws", "google", "azure", "vault"] as const;
export type KmsName = (typeof kmsNames)[number];

/** A value that is encrypted with a key of a service, as the service writes it. */
export interface KmsText {
  service: KmsName;
  key: string;
  text: string;
}

/** The words of a command may be quoted, so that they can contain braces and spaces. */
const reference =
  /\$\{(?:secret:([A-Za-z_]\w{0,63})|command:((?:[^{}"'$]|\$(?!\{)|"(?:[^"$]|\$(?!\{))*"|'(?:[^'$]|\$(?!\{))*')+)|kms:(aws|google|azure|vault) ([\w:/.+=@-]+) ([\w:/.+=-]+))\}/g;

const secretName = /^[A-Za-z_]\w{0,63}$/;

export function isSecretName(text: string): boolean {
  return secretName.test(text);
}

export type Reference = { secret: string } | { command: string } | { kms: KmsText };

/** Each reference once, by its text, in the order of the value. The names of keys are not looked at. */
export function referencesIn(value: unknown): Map<string, Reference> {
  const found = new Map<string, Reference>();
  const look = (each: unknown): void => {
    if (typeof each === "string") {
      for (const [text, secret, command, service, key = "", sealed = ""] of each.matchAll(reference)) {
        if (secret !== undefined) found.set(text, { secret });
        else if (command !== undefined) found.set(text, { command });
        else found.set(text, { kms: { service: service as KmsName, key, text: sealed } });
      }
    } else if (Array.isArray(each)) each.forEach(look);
    else if (isObject(each)) Object.values(each).forEach(look);
  };
  look(value);
  return found;
}

/** A copy in which references are replaced by their values. References without a value stay. */
export function withValues<T>(value: T, values: ReadonlyMap<string, string>): T {
  return withTexts(value, (text) => text.replace(reference, (whole) => values.get(whole) ?? whole));
}

/** The keys of a server's entry that may have references. */
const keysOfServer: readonly string[] = [
  "command",
  "args",
  "env",
  "cwd",
  "url",
  "headers",
  "auth",
  "oauth",
  "exchange",
];

/** The parts of a server's entry that may have references. */
export function referringParts(entry: object): Record<string, unknown> {
  const given = Object.entries(entry);
  return Object.fromEntries(given.filter(([key]) => keysOfServer.includes(key)));
}

/** The references that an entry has in the file. A text that looks like one and comes from the value of a variable is none. */
export interface EntryReferences {
  texts: string[];
  /** The folder of the config file, in which commands run. */
  folder: string;
}

/** Empty for an entry without references. */
export function entryReferencesOf(entry: object, folder: string): { references?: EntryReferences } {
  const texts = [...referencesIn(referringParts(entry)).keys()];
  return texts.length === 0 ? {} : { references: { texts, folder } };
}

/** The references in a part of the entry, by default in all of it. */
export function referencesOf(
  entry: { references?: EntryReferences | undefined },
  part: unknown = referringParts(entry),
): Map<string, Reference> {
  const { texts = [] } = entry.references ?? {};
  if (texts.length === 0) return new Map();
  return new Map([...referencesIn(part)].filter(([text]) => texts.includes(text)));
}

/** The keys of the config, beside the servers, that may have references. */
const keysOfConfig: readonly string[] = [
  "llm",
  "telemetry",
  "registries",
  "approvals.notify",
  "auth.oidc.clientSecret",
  "auth.oidc.introspection.clientSecret",
  "auth.oidc.scim.token",
  "auth.sealingKey",
];

/** The mistakes in the references of a server's entry: the key, and the problem. */
export function entryReferenceProblem(entry: object): ReferenceProblem | undefined {
  return problemIn(entry, keysOfServer);
}

/** The mistakes in the references of the config, beside the servers. */
export function configReferenceProblem(config: object): ReferenceProblem | undefined {
  const { mcpServers: _, auth, approvals, ...rest } = config as Record<string, unknown>;
  const { notify, ...waiting } = isObject(approvals) ? approvals : {};
  const { sealingKey, oidc, ...others } = isObject(auth) ? auth : {};
  const { clientSecret, introspection, scim, ...provider } = isObject(oidc) ? oidc : {};
  const { token, ...directory } = isObject(scim) ? scim : {};
  const { clientSecret: asking, ...endpoint } = isObject(introspection) ? introspection : {};
  const secret = {
    "approvals.notify": notify,
    "auth.oidc.clientSecret": clientSecret,
    "auth.oidc.introspection.clientSecret": asking,
    "auth.oidc.scim.token": token,
    "auth.sealingKey": sealingKey,
  };
  return problemIn(
    { ...rest, approvals: waiting, auth: { ...others, provider, endpoint, directory }, ...secret },
    keysOfConfig,
  );
}

interface ReferenceProblem {
  key: string;
  text: string;
}

function problemIn(value: object, keys: readonly string[]): ReferenceProblem | undefined {
  for (const [key, each] of Object.entries(value)) {
    const texts = textsIn(each).filter((text) => anyReference.test(text));
    if (texts.length > 0 && !keys.includes(key)) {
      return { key, text: `"\${secret:…}", "\${command:…}" and "\${kms:…}" can only be in ${keys.join(", ")}` };
    }
    const rest = texts.map((text) => text.replace(reference, "")).find((text) => anyReference.test(text));
    if (rest !== undefined) return { key, text: formOf(rest) };
  }
  return undefined;
}

/** Whether any text of a value has a reference, or the beginning of one. */
export function hasReference(value: unknown): boolean {
  return textsIn(value).some((text) => anyReference.test(text));
}

function formOf(text: string): string {
  if (text.includes("${kms:"))
    return `write \${kms:SERVICE KEY TEXT} as claudikins secrets encrypt prints it. The services are ${kmsNames.join(", ")}`;
  return text.includes("${secret:")
    ? "the name in ${secret:NAME} has at most 64 letters, digits and underscores, and does not begin with a digit"
    : "write ${command:PROGRAM ARGUMENT …}: without ${…} inside, and with quotes around braces";
}

function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (Array.isArray(value)) return value.flatMap(textsIn);
  return isObject(value) ? Object.values(value).flatMap(textsIn) : [];
}

/** The words of a command. Spaces separate them, unless they are in quotes. Nothing else is special, because no shell reads the line. */
export function commandWords(line: string): string[] {
  const words = line.match(/(?:[^\s"']|"[^"]*"|'[^']*')+/g) ?? [];
  return words.map((word) => word.replace(/"([^"]*)"|'([^']*)'/g, (_, one = "", other = "") => one + other));
}
