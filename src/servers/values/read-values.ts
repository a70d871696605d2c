/** Reads the values of `${secret:NAME}`, `${command:…}` and `${kms:…}`: once for the process, until a secret is set again or a value is refused. */
import { ClaudikinsError, messageOf } from "../../base/errors.ts";
import { KeychainFailure } from "../../base/keychain.ts";
import { oneLine } from "../../base/visible-text.ts";
import type { Environment } from "../../config/environment.ts";
import { homeOf, secretsFile } from "../../config/locations.ts";
import {
  commandWords,
  type KmsText,
  type Reference,
  referencesIn,
  withValues,
} from "../../config/secrets/references.ts";
import { readSecret, storedSecret } from "../../config/secrets/store.ts";
import { type OutputOptions, outputOf, ProgramFailure } from "../process/program-output.ts";
import { knowValue } from "./known-values.ts";

/** Characters of the line that a program writes to stderr instead of a secret. */
const maxSaidChars = 200;

export interface ReadOptions extends Pick<OutputOptions, "signal" | "warn"> {
  /** The environment of this process. */
  env: Environment;
  /** The folder in which commands run. Default: the user's home folder. */
  folder?: string | undefined;
}

/** Why a value cannot be read. `why` ends a sentence that begins with what needs it. */
export class ValueMissing extends Error {
  override readonly name = "ValueMissing";
  readonly hint: string;

  constructor(why: string, hint: string) {
    super(why);
    this.hint = hint;
  }
}

const values = new Map<string, Promise<string>>();

/** The values by the texts of their references. Throws ValueMissing. */
export async function readValues(
  references: ReadonlyMap<string, Reference>,
  options: ReadOptions,
): Promise<Map<string, string>> {
  const read = async ([text, reference]: [string, Reference]) => {
    const value = await cachedValue(reference, options);
    knowValue(text, value);
    return [text, value] as const;
  };
  // No command runs in vain if a secret is missing.
  const [commands, others] = [[...references].filter(isCommand), [...references].filter((each) => !isCommand(each))];
  return new Map([...(await Promise.all(others.map(read))), ...(await Promise.all(commands.map(read)))]);
}

const isCommand = ([, reference]: [string, Reference]) => "command" in reference;

/** A value of the config with the values of its references. `who` begins the sentence of an error. Throws NEEDS_SECRET. */
export async function withReadValues<T>(value: T, who: string, options: ReadOptions): Promise<T> {
  const references = referencesIn(value);
  if (references.size === 0) return value;
  try {
    return withValues(value, await readValues(references, options));
  } catch (error) {
    if (!(error instanceof ValueMissing)) throw error;
    throw new ClaudikinsError("NEEDS_SECRET", `${who} ${error.message}`, { hint: error.hint });
  }
}

/** Makes the next `readValues` run the commands again. */
export function forgetCommands(references: ReadonlyMap<string, Reference>, options: ReadOptions): void {
  for (const reference of references.values()) {
    if ("command" in reference) values.delete(keyOf(reference, options));
  }
}

function cachedValue(reference: Reference, options: ReadOptions): Promise<string> {
  const key = keyOf(reference, options);
  const before = values.get(key);
  if (before) return before;
  const reading = readFrom(reference, options);
  values.set(key, reading);
  reading.catch(() => {
    if (values.get(key) === reading) values.delete(key);
  });
  return reading;
}

function readFrom(reference: Reference, options: ReadOptions): Promise<string> {
  if ("secret" in reference) return secretOf(reference, options);
  return "command" in reference ? printedBy(reference.command, options) : decryptedBy(reference.kms, options);
}

/** A secret that is set again has another key, so that it is read again. A command may print something else for each person. */
function keyOf(reference: Reference, { env, folder }: ReadOptions): string {
  const { CLAUDIKINS_PERSON: person, CLAUDIKINS_GROUPS: groups } = env;
  if ("command" in reference) return JSON.stringify(["command", reference.command, folder, person, groups]);
  if ("kms" in reference) return JSON.stringify(reference);
  const { secret } = reference;
  return JSON.stringify(["secret", secret, secretsFile(env), asked(() => storedSecret(secret, env)?.setAt)]);
}

async function secretOf({ secret }: { secret: string }, { env }: ReadOptions): Promise<string> {
  const set = `claudikins secrets set ${secret}`;
  try {
    const value = await readSecret(secret, env);
    if (value !== undefined) return value;
  } catch (error) {
    if (!(error instanceof KeychainFailure)) throw asMissing(error);
    const why = `needs the secret ${secret}, and the keychain ${error.message}`;
    throw new ValueMissing(why, `Unlock the keychain and try again, or keep the secret in a file: ${set} --file`);
  }
  throw new ValueMissing(`needs the secret ${secret}, which is not set`, `Set it: ${set}`);
}

/** The file of secrets cannot be used. */
function asked<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw asMissing(error);
  }
}

function asMissing(error: unknown): ValueMissing {
  const hint = error instanceof ClaudikinsError ? error.hint : undefined;
  return new ValueMissing(`needs a secret: ${messageOf(error)}`, hint ?? "Check the file of secrets.");
}

async function printedBy(line: string, { env, folder, signal, warn }: ReadOptions): Promise<string> {
  const [program = "", ...args] = commandWords(line);
  // Arguments may be secret, or lead to one.
  const failed = (what: string) =>
    new ValueMissing(
      `needs a value that the command ${program} prints: it ${what}`,
      `Run the command of the config in a terminal to see what it prints.`,
    );
  try {
    const cwd = folder ?? homeOf(env);
    const text = await outputOf({ command: program, args, cwd }, { env, signal, warn });
    const [first = ""] = text.trimStart().split(/\r?\n/);
    if (first.trim() === "") throw failed("printed nothing");
    return first.trim();
  } catch (error) {
    if (!(error instanceof ProgramFailure)) throw error;
    const said = error.stderr.split(/\r?\n/).map((each) => oneLine(each, maxSaidChars).trim());
    const last = said.filter((each) => each !== "").at(-1);
    throw failed(last === undefined ? error.message : `${error.message}: ${last}`);
  }
}

async function decryptedBy({ service, key, text }: KmsText, { env }: ReadOptions): Promise<string> {
  const [{ decrypted }, { ServiceFailure }] = await Promise.all([
    import("./kms/kms.ts"),
    import("../../base/service-request.ts"),
  ]);
  try {
    return await decrypted(service, key, text, env);
  } catch (error) {
    if (!(error instanceof ServiceFailure)) throw error;
    throw new ValueMissing(`needs a value that is encrypted with a key of ${service}: ${error.message}`, error.hint);
  }
}
