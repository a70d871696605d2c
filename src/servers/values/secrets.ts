/**
 * Removes the secrets of a server's entry from texts of claudikins: errors, states, logs and generated files. Results of tools
 * stay unchanged.
 *
 * Secrets are: values of `${VARIABLE}`, of `env`, of `headers` and of fixed arguments of tools; the secrets of `oauth`; userinfo and
 * query values of any URL; and in `args`, values after a flag, or after `NAME=` or `Name:`, that names a token, key or password; and what this process has read for
 * `${secret:NAME}` and `${command:…}`, whatever it looks like. Not secret are values of
 * fewer than six characters, and, unless their name suggests a secret, values that look like words, numbers, paths or URLs
 * without userinfo and query: `us-east-1`, `8080`.
 */

import { ClaudikinsError, messageOf, withJsonTexts } from "../../base/errors.ts";
import { exactDigits } from "../../base/exact-json.ts";
import { isObject, withTexts } from "../../base/json-object.ts";
import { percentDecoded } from "../../base/percent-decoded.ts";
import type { NetworkServer, ServerConfig } from "../../config/load.ts";
import { hasReference, type Reference, referencesOf } from "../../config/secrets/references.ts";
import { authTexts } from "../../config/sources.ts";
import type { ServerEdits } from "../../config/tool-edits.ts";
import { knownChanges, knownValuesOf, withKnownValues } from "./known-values.ts";

/** Secrets of a server that are remembered. Old ones are kept as well, because a late message may contain one. */
const maxLearnedSecrets = 200;

/** Shorter values are not looked for in texts. */
const minSecretChars = 6;

/** Characters that are compared at once when secrets are looked for. A secret has at least as many. */
const secretAnchorChars = minSecretChars;

/** Shorter encoded forms of a secret would match unrelated text. */
const minEncodedSecretChars = 8;

export type Redact = (text: string) => string;

type OfServer<T> = T extends unknown
  ? Pick<
      T,
      Extract<
        keyof T,
        | "references"
        | "variables"
        | "edits"
        | "command"
        | "args"
        | "env"
        | "url"
        | "headers"
        | "headersHelper"
        | "auth"
        | "openapi"
        | "oauth"
        | "exchange"
      >
    >
  : never;

/** The parts of an entry that may contain secrets. */
type Redactable = OfServer<ServerConfig>;

const secretName =
  /token|secret|pass(?:word|wd|phrase)?|pwd|auth(?!ors?(?:$|[_-]))|credential|cookie|session|signature|bearer|jwt|dsn|api-?key|(?:^|[_-])(?:key|pat|sig|pin)(?:$|[_-])|[a-z](?:Key|KEY)$/i;
const nameOfAmount = /max|min|limit|count|size|timeout|ttl|length|budget|port/i;
const nameOfPlace = /(?:file|path|dir|home|folder)$/i;

const separator = "[ ._:,;@/+-]{1,2}";
const words = new RegExp(`^[A-Za-z]{1,20}(?:${separator}[A-Za-z]{1,20}|(?:${separator})?\\d{1,5}(?!\\d))*$`);
const plainNumber = /^[\d.,:+-]+$/;
const path = /^(?:(?:~|\.{1,2})?\/|[A-Za-z]:\\)[^:?#]*$/;
const knownToken = /^(?:gh[pousr]_|github_pat_|glpat-|sk-|xox[abeprs]-|AKIA|AIza|eyJ)/;

const noSecrets: Redact = (text) => text;

/** Replaces each secret by the name of its variable, or by `***`. */
export function redactorOf(server: Redactable): Redact {
  const references = referencesOf(server);
  const isHelped = server.url !== undefined && server.headersHelper !== undefined;
  if (references.size > 0 || isHelped) return withLearned(server, references);
  return finderOf(formsIn(server));
}

/** The fixed secrets of an entry, each in all its forms, and how they are shown. */
function formsIn(server: Redactable): Map<string, string> {
  const shownAs = new Map<string, string>();
  const add = (secret: string, shown = "***") => {
    // A variable that is not set: the error must name it.
    if (/^\$(?:\{|%7B)(?:user:|secret:)?\w+(?:\}|%7D)$/i.test(secret) || hasReference(secret)) return;
    for (const form of [secret, ...secret.split(/\r?\n/)].flatMap(formsOf)) {
      if (form.length >= minSecretChars && !shownAs.has(form)) shownAs.set(form, shown);
    }
  };
  for (const [name, value] of Object.entries(server.variables ?? {})) addValue(name, value, add, `\${${name}}`);
  if (server.edits) addEdits(server.edits, add);
  if (server.url === undefined) {
    for (const [name, value] of Object.entries(server.env)) addValue(name, value, add);
    addArguments(server.args, add);
  } else {
    for (const [name, value] of Object.entries(server.headers)) addValue(name, value, add);
    addAddress(server.url, add);
    if (server.openapi !== undefined) addAddress(server.openapi, add);
    // Credentials of a source are secrets, whatever they look like.
    for (const value of authTexts(server.auth)) addUserinfo(value, add);
    const { clientSecret, privateKey } = server.oauth || {};
    for (const secret of [clientSecret, privateKey, server.exchange?.clientSecret])
      if (secret !== undefined) add(secret);
  }
  return shownAs;
}

function finderOf(shownAs: ReadonlyMap<string, string>): Redact {
  return shownAs.size === 0 ? noSecrets : secretFinder(shownAs);
}

/** The secrets that programs have printed, by the entry's address and program: a changed config makes other entry objects. */
const learned = new Map<string, Set<string>>();
let learnings = 0;

type Helped = Pick<NetworkServer, "url" | "headersHelper">;
const keyOf = ({ url, headersHelper }: Helped) => JSON.stringify([url, headersHelper]);

/** Makes the redactors of the server remove these values of headers, too. */
export function learnSecrets(server: Helped, values: readonly string[]): void {
  const known = learned.get(keyOf(server)) ?? new Set();
  learned.set(keyOf(server), known);
  for (const value of values) {
    const [, credentials = value] = /^(?:Bearer|Basic|Token|ApiKey|Digest|Negotiate) +(.+)$/is.exec(value) ?? [];
    known.delete(credentials);
    known.add(credentials);
  }
  for (const secret of known) if (known.size > maxLearnedSecrets) known.delete(secret);
  learnings += 1;
}

/** Removes what was read or printed until the text comes, also if that was after this call. */
function withLearned(server: Redactable, references: ReadonlyMap<string, Reference>): Redact {
  let seen = "";
  let redact = noSecrets;
  return (text) => {
    const now = `${learnings} ${knownChanges()}`;
    if (now !== seen) {
      seen = now;
      const printed = server.url === undefined ? [] : (learned.get(keyOf(server)) ?? []);
      const values = [...knownValuesOf(references), ...[...printed].map((value) => ({ value, shown: "***" }))];
      const forms = values.flatMap(({ value, shown }) =>
        [value, ...value.split(/\r?\n/)].flatMap(formsOf).map((form) => [form, shown] as const),
      );
      const long = forms.filter(([form]) => form.length >= minSecretChars);
      redact = finderOf(new Map([...formsIn(withKnownValues(server)), ...long]));
    }
    return redact(text);
  };
}

type Add = (secret: string, shown?: string) => void;

function addValue(name: string, value: string, add: Add, shown?: string): void {
  // The scheme before a token is not secret: `Bearer …`.
  const [, scheme, credentials = value] = /^(Bearer|Basic|Token|ApiKey|Digest) +(.+)$/is.exec(value) ?? [];
  if (scheme?.toLowerCase() === "basic") addUserinfo(Buffer.from(credentials, "base64").toString("utf8"), add);
  if (addAddress(value, add) && !secretName.test(name)) return;
  if (isSecret(name, credentials)) add(credentials, shown);
}

/** Whether values with this name are secret, whatever they look like. */
export function speaksOfSecret(name: string): boolean {
  return secretName.test(name) && !nameOfAmount.test(name) && !nameOfPlace.test(name);
}

function isSecret(name: string, value: string): boolean {
  if (value.length < minSecretChars || /^(?:true|false|null|none|undefined)$/i.test(value)) return false;
  if (path.test(value) && (nameOfPlace.test(name) || !secretName.test(name))) return false;
  if (plainNumber.test(value) && nameOfAmount.test(name)) return false;
  return secretName.test(name) || !(words.test(value) || plainNumber.test(value));
}

/** Whether a value in an entry is most likely a secret: it has the form of one, or its name suggests one. */
export function looksSecret(name: string, value: string): boolean {
  return (knownToken.test(value) && value.length >= 16) || (speaksOfSecret(name) && isSecret(name, value));
}

/** Whether a part of a path is most likely a secret. */
export function looksLikeToken(part: string): boolean {
  return part.length >= 20 && /\d/.test(part) && !words.test(part);
}

function addEdits({ tools, variables }: ServerEdits, add: Add): void {
  for (const [name, value] of Object.entries(variables)) addValue(name, value, add, `\${${name}}`);
  const addTexts = (name: string, value: unknown): void => {
    if (typeof value === "string") addValue(name, value, add);
    else if (Array.isArray(value)) for (const each of value) addTexts(name, each);
    else if (isObject(value)) for (const [key, each] of Object.entries(value)) addTexts(key, each);
  };
  for (const { fixed } of tools) addTexts("", fixed);
}

function addArguments(args: readonly string[], add: Add): void {
  for (const [index, text] of args.entries()) {
    addAddress(text, add);
    if (knownToken.test(text) && text.length >= 16) add(text);
    const [, name = "", value = ""] = /^-{0,2}([\w-]+)\s*[=:]\s*(.+)$/s.exec(text) ?? [];
    if (secretName.test(name)) addValue(name, value, add);
    const flag = /^--?([\w-]+)$/.exec(args[index - 1] ?? "")?.[1];
    if (flag !== undefined && secretName.test(flag) && !text.startsWith("-")) addValue(flag, text, add);
  }
}

/**
 * Adds the secrets of a URL: credentials, query values, and long parts of the path that do not look like words. False if
 * the text is not a URL.
 */
function addAddress(text: string, add: Add): boolean {
  if (!/^[a-z][a-z\d+.-]*:\/\//i.test(text) || !URL.canParse(text)) return false;
  const { username, password, searchParams, search, pathname } = new URL(text);
  if (username !== "" || password !== "") {
    addUserinfo(`${username}:${password}`, add);
    addUserinfo(`${percentDecoded(username)}:${percentDecoded(password)}`, add);
  }
  for (const [name, value] of searchParams) if (isSecret(name, value)) add(value);
  // The original spelling, if it differs from the decoded value and from our own encoding.
  for (const [, name = "", value = ""] of search.matchAll(/[?&]([^=&]*)=([^&]*)/g))
    if (isSecret(name, value)) add(value);
  for (const part of pathname.split("/")) if (looksLikeToken(part)) add(part);
  return true;
}

/** A password may be short, but not together with its user. Either may be a token. */
function addUserinfo(userinfo: string, add: Add): void {
  const [user = "", ...rest] = userinfo.split(":");
  const password = rest.join(":");
  add(`${userinfo}@`, "***@");
  add(userinfo);
  add(Buffer.from(userinfo).toString("base64"));
  add(password);
  if (password === "" || !words.test(user)) add(user);
}

/** The same error without secrets. */
export function redactError(error: unknown, redact: Redact): unknown {
  if (!hasSecret(error, redact)) return error;
  // Without the cause: printing it would reveal the secret.
  return error instanceof ClaudikinsError ? error.reworded(redact) : new Error(redact(messageOf(error)));
}

function hasSecret(error: unknown, redact: Redact): boolean {
  if (error === undefined || error === null) return false;
  const { hint = "", data } = error instanceof ClaudikinsError ? error : {};
  const texts = error instanceof Error ? [error.message, hint] : [String(error)];
  if (data !== undefined && withJsonTexts(data, redact) !== withJsonTexts(data, String)) return true;
  if (texts.some((text) => redact(text) !== text)) return true;
  return error instanceof Error && hasSecret(error.cause, redact);
}

/** Applies `redact` to every string in a value, but not to the names of properties. */
export function redactTexts<T>(value: T, redact: Redact): T {
  return redact === noSecrets ? value : withTexts(value, redact);
}

/** Names of the protocol. */
const harmlessNames = new Set(["progressToken", "nextCursor"]);

const hidden = "***";

/** Forms of secrets, and how they are shown. Repetitions are bounded, because texts may be long. */
const forms: readonly [RegExp, string][] = [
  [/\b(Bearer|Basic) +[\w.~+/=-]{8,}/gi, `$1 ${hidden}`],
  [/\b(?:gh[pousr]_|github_pat_|glpat-|sk-|xox[abeprs]-|AKIA|AIza|eyJ)(?=[\w.-]{0,99}\d)[\w.-]{12,}/g, hidden],
  [/(\w:\/\/)[^\s/?#@"]{1,999}@/g, `$1${hidden}@`],
  [/([?&][^=&\s]{0,40}(?:token|secret|password|key|sig|code|auth|session)[^=&\s]{0,40}=)[^&\s"]+/gi, `$1${hidden}`],
  [/("[\w-]{0,40}(?:token|secret|password|passwd|api[_-]?key|authorization)"\s{0,9}:\s{0,9}")[^"\\]+/gi, `$1${hidden}`],
];

/**
 * Masks secrets in messages that are shown: the entry's own, and texts that look like one. Texts are masked before they are cut, because
 * half a secret would not be recognised.
 */
export function masked<T>(message: T, redact: Redact): T {
  const text = (value: string) => forms.reduce((known, [form, shown]) => known.replace(form, shown), redact(value));
  const visit = (node: unknown, place: SecretContext): unknown => {
    if (typeof node === "string") return place === "secret" ? hidden : text(node);
    if (typeof node === "number") return place === "secret" ? hidden : node;
    if (Array.isArray(node)) return node.map((child) => visit(child, place));
    if (node === null || typeof node !== "object" || exactDigits(node) !== undefined) return node;
    return Object.fromEntries(
      Object.entries(node).map(([key, child]) => [text(key), visit(child, placeOf(key, child, place))]),
    );
  };
  return visit(message, "elsewhere") as T;
}

/** Whether a value is below a name of a secret, in the arguments of a tool, or neither. */
type SecretContext = "secret" | "arguments" | "elsewhere";

function placeOf(key: string, child: unknown, around: SecretContext): SecretContext {
  if (around === "secret") return "secret";
  const isSecret = speaksOfSecret(key) && !harmlessNames.has(key) && !isPlainKey(key, child);
  // A schema describes properties with such names, and a number may be a count. In arguments, it is the secret itself.
  if (isSecret && (around === "arguments" || typeof child === "string")) return "secret";
  return key === "arguments" ? "arguments" : around;
}

/** The key of a group, an issue or a pair, such as `{ key: "decor", orders: 230 }`. */
function isPlainKey(key: string, child: unknown): boolean {
  if (key.toLowerCase() !== "key") return false;
  return typeof child === "number" || (typeof child === "string" && (words.test(child) || plainNumber.test(child)));
}

interface Anchor {
  form: string;
  /** The position of the anchor in the form. */
  at: number;
  shown: string;
}

/**
 * Returns a function that replaces each form of a secret. Half a form counts as well, if it has at least eleven characters.
 * Takes about 5 ms per megabyte, whatever the number of forms.
 */
function secretFinder(shownAs: ReadonlyMap<string, string>): (text: string) => string {
  const anchors = new Map<string, Anchor[]>();
  /** The first two characters of all anchors. Most positions of a text are skipped by this test. */
  const begun = new Uint8Array(65_536);
  for (const [form, shown] of shownAs) {
    for (const at of anchorPlaces(form.length)) {
      const text = form.slice(at, at + secretAnchorChars);
      const same = anchors.get(text);
      if (same) same.push({ form, at, shown });
      else anchors.set(text, [{ form, at, shown }]);
      begun[pair(form.charCodeAt(at), form.charCodeAt(at + 1))] = 1;
    }
  }

  return (text) => {
    let out = "";
    let done = 0;
    for (let at = 0; at + secretAnchorChars <= text.length; at++) {
      if (begun[pair(text.charCodeAt(at), text.charCodeAt(at + 1))] === 0) continue;
      const found = longest(anchors.get(text.slice(at, at + secretAnchorChars)) ?? [], text, at, done);
      if (!found) continue;
      out += text.slice(done, found.start) + found.shown;
      done = found.end;
      at = done - 1;
    }
    return done === 0 ? text : out + text.slice(done);
  };
}

const pair = (first: number, second: number) => ((first & 0xff) << 8) | (second & 0xff);

/** Positions so close that each half of the form contains a whole anchor. */
function anchorPlaces(length: number): number[] {
  const step = Math.max(1, partLength(length) - secretAnchorChars + 1);
  const places: number[] = [];
  for (let at = 0; at <= length - secretAnchorChars; at += step) places.push(at);
  return places;
}

/** The number of characters that reveal the secret. */
function partLength(length: number): number {
  return Math.min(length, Math.max(2 * secretAnchorChars - 1, Math.ceil(length / 2)));
}

/** The longest part of a form around the anchor; whole forms are preferred. Characters before `from` are already replaced. */
function longest(anchors: readonly Anchor[], text: string, at: number, from: number) {
  let best: { start: number; end: number; shown: string; isWhole: boolean } | undefined;
  for (const { form, at: within, shown } of anchors) {
    let start = at;
    for (let place = within - 1; place >= 0 && start > from && text[start - 1] === form[place]; place--) start--;
    let end = at + secretAnchorChars;
    for (let place = within + secretAnchorChars; place < form.length && text[end] === form[place]; place++) end++;
    const length = end - start;
    if (length < partLength(form.length)) continue;
    const isWhole = length === form.length;
    const known = best ? best.end - best.start : 0;
    if (length > known || (length === known && isWhole && !best?.isWhole)) best = { start, end, shown, isWhole };
  }
  return best;
}

/** All forms of a secret, the secret itself first. */
function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret.toWellFormed());
  const hex = bytes.toString("hex");
  const inAddress = encodeURIComponent(secret.toWellFormed());
  const everyByte = hex.replace(/../g, "%$&");
  const encoded = [
    hex,
    hex.toUpperCase(),
    everyByte,
    everyByte.toUpperCase(),
    ...base64Forms(bytes),
    codeUnits(secret),
  ];
  return [
    ...new Set([
      secret,
      JSON.stringify(secret).slice(1, -1),
      // As in a line of a log.
      secret.replace(/\p{Cc}+/gu, " "),
      inAddress,
      inAddress.replace(/%[\dA-F]{2}/g, (code) => code.toLowerCase()),
      inAddress.replaceAll("%20", "+"),
      ...encoded.filter((form) => form.length >= minEncodedSecretChars),
    ]),
  ];
}

/** Base64 and base64url, with anything before and after the secret: preceding bytes shift all characters. */
function base64Forms(bytes: Buffer): string[] {
  return [0, 1, 2].flatMap((shift) => {
    const text = Buffer.concat([Buffer.alloc(shift), bytes])
      .toString("base64")
      .replaceAll("=", "");
    // The first and last character may contain bits of neighbouring bytes.
    const end = (shift + bytes.length) % 3 === 0 ? text.length : text.length - 1;
    const own = text.slice([0, 2, 3][shift], end);
    return [own, own.replaceAll("+", "-").replaceAll("/", "_")];
  });
}

/** As `\u0061`, the escape that some serializers use for every character. */
function codeUnits(secret: string): string {
  return secret.replace(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
