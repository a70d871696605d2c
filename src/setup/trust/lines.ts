/** Lists what a trusted config would do, line by line, for a person to read. Secrets are shown as `***`. */

import { isObject } from "../../base/json-object.ts";
import { shellWord } from "../../base/shell-word.ts";
import type { ApprovalNotice } from "../../config/approval-notice.ts";
import type { DoorEntry } from "../../config/doors.ts";
import { variablesIn } from "../../config/expand.ts";
import { usualVariable } from "../../config/llm.ts";
import type { ParsedConfig } from "../../config/parse.ts";
import { type CommonPolicy, commonKeys, type PolicyKeys } from "../../config/policy.ts";
import type { ServerEntry } from "../../config/schema.ts";
import { referencesIn } from "../../config/secrets/references.ts";
import type { TelemetryEntry } from "../../config/telemetry.ts";
import type { ToolEntries, ToolEntry } from "../../config/tool-edits.ts";
import { digestOf, enabledServers, rulesOf, thatCounts } from "../../config/trust/marks.ts";
import type { TrustLine } from "../../config/trust/store.ts";
import { speaksOfSecret } from "../../servers/values/secrets.ts";

/** Everything that needs trust, the servers first. */
export function linesOf(config: ParsedConfig): TrustLine[] {
  const servers = enabledServers(config).flatMap(([name, entry]) => serverLines(name, entry));
  return [...servers, ...ruleLines(config)];
}

function serverLines(name: string, entry: ServerEntry): TrustLine[] {
  const { allow, deny, confirm, labels, ...rest } = thatCounts(entry) as Record<string, unknown> & PolicyKeys;
  const line = lineOf(name);
  const start = entry.url === undefined ? programLines(entry, line) : addressLines(entry, line);
  const named = ["command", "args", "cwd", "env", "inherit", "url", "headers", "headersHelper", "oauth", "exchange"];
  const others = Object.entries(rest).filter(([key]) => !named.includes(key));
  return [
    ...start,
    ...others.map(([key, value]) => line(key, JSON.stringify(value), value)),
    ...readLines(variablesIn(rest), line),
    ...referenceLines(rest, line),
    ...policyLines({ allow, deny, confirm, labels }, line),
  ];
}

type MakeLine = (label: string, text: string, value?: unknown) => TrustLine;

const lineOf =
  (part: string): MakeLine =>
  (label, text, value = text) => ({ part, label, text, digest: digestOf(value) });

type Program = Extract<ServerEntry, { command: string }>;
type Remote = Exclude<ServerEntry, Program>;

function programLines({ command, args, cwd, env, inherit = [] }: Program, line: MakeLine): TrustLine[] {
  const text = [command, ...shownArguments(args)].map(shellWord).join(" ");
  return [
    line("start", text, [command, args]),
    ...(cwd === undefined ? [] : [line("in the folder", cwd)]),
    ...Object.entries(env).map(([name, value]) => line("set", `${name}=${shownValue(name, value)}`, [name, value])),
    ...(inherit === "minimal" || inherit.length === 0 ? [] : [line("read from the environment", inherit.join(", "))]),
  ];
}

function addressLines({ url, headers, headersHelper, cwd, oauth, exchange }: Remote, line: MakeLine): TrustLine[] {
  return [
    line("connect to", shownAddress(url), url),
    // Nothing in it is hidden, because a command may look like a secret.
    ...(headersHelper === undefined
      ? []
      : [line("run in a shell, with all your variables, for headers", headersHelper)]),
    ...(cwd === undefined ? [] : [line("in the folder", cwd)]),
    ...Object.entries(headers).map(([name, value]) =>
      line("send", `${name}: ${shownValue(name, value, true)}`, [name, value]),
    ),
    ...Object.entries(oauth || {})
      .filter(([, value]) => value !== undefined)
      .map(([key, value]) => line("sign in with", `${key} ${shownValue(key, String(value), true)}`, [key, value])),
    ...(oauth === false ? [line("sign in", "never", false)] : []),
    ...Object.entries(exchange ?? {})
      .filter(([, value]) => value !== undefined)
      .map(([key, value]) =>
        line("exchange people's tokens with", `${key} ${shownValue(key, String(value), true)}`, [key, value]),
      ),
  ];
}

function readLines(names: Iterable<string>, line: MakeLine): TrustLine[] {
  const text = [...names].join(", ");
  return text === "" ? [] : [line("read from the environment", text)];
}

/** The user's secrets that are read, the commands that run for a value, and the keys that decrypt one. Nothing in these is hidden. */
function referenceLines(value: unknown, line: MakeLine): TrustLine[] {
  return [...referencesIn(value).values()].map((reference) => {
    if ("secret" in reference) return line("use your secret", reference.secret);
    if ("command" in reference) return line("run for a value, with all your variables", reference.command);
    const { service, key, text } = reference.kms;
    return line("decrypt a value with your key", `${service} ${key}`, [service, key, text]);
  });
}

function policyLines(keys: CommonPolicy, line: MakeLine): TrustLine[] {
  return commonKeys.flatMap((key) => {
    const value = keys[key];
    return value === undefined ? [] : [line(key, policyText(value), value)];
  });
}

function policyText(value: string | string[] | Record<string, string | string[]>): string {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return value.join(", ") || "nothing";
  return Object.entries(value)
    .map(([pattern, each]) => `${pattern} ${policyText(each)}`)
    .join(", ");
}

function ruleLines(config: ParsedConfig): TrustLine[] {
  const {
    policy,
    tools,
    doors,
    auth,
    llm,
    registry,
    workspace,
    executeTask,
    askModel,
    record,
    telemetry,
    notify,
    ...others
  } = rulesOf(config) as Partial<ParsedConfig> & { notify?: ApprovalNotice };
  const folders = lineOf("folders");
  const model = lineOf("model");
  const executions = lineOf("executions");
  return [
    ...policyLines(policy ?? {}, lineOf("policy")),
    ...toolLines(tools ?? {}, lineOf("tools")),
    ...doorLines(doors ?? {}, lineOf("doors")),
    ...(auth === undefined ? [] : authLines(auth, lineOf("auth"))),
    ...(llm === undefined ? [] : modelLines(llm, model)),
    ...(executeTask ? [model("offer", "execute_task, which lets it call tools", executeTask)] : []),
    ...(askModel ? [model("let programs ask it", `${askModel.calls} times each`, askModel)] : []),
    ...(registry === undefined ? [] : [folders("write generated files to", registry)]),
    ...(workspace === undefined ? [] : [folders("let code write to", workspace)]),
    ...readLines(variablesIn([registry, workspace]), folders),
    ...(record === undefined ? [] : [executions("keep", "arguments and results", record)]),
    ...(telemetry === undefined ? [] : telemetryLines(telemetry, lineOf("telemetry"))),
    ...(notify === undefined ? [] : noticeLines(notify, lineOf("approvals"))),
    ...Object.entries(others).map(([key, value]) => lineOf("config")(key, JSON.stringify(value), value)),
  ];
}

function toolLines(tools: ToolEntries, line: MakeLine): TrustLine[] {
  return [
    ...Object.entries(tools).map(([id, entry]) => line(id, JSON.stringify(shownEntry(entry)), entry)),
    ...readLines(variablesIn(tools), line),
  ];
}

function doorLines(doors: Record<string, DoorEntry>, line: MakeLine): TrustLine[] {
  return [
    ...Object.entries(doors).map(([name, door]) => {
      const { entries, ...rules } = door.tools ?? {};
      const edits = Object.entries(entries ?? {}).map(([id, entry]) => [id, shownEntry(entry)]);
      const shown = door.tools ? { ...door, tools: { ...rules, ...Object.fromEntries(edits) } } : door;
      return line(name, JSON.stringify(shown), door);
    }),
    ...readLines(variablesIn(Object.values(doors).map(({ tools, workspace }) => [tools, workspace])), line),
  ];
}

/** The entry of a tool without secrets in the values of its arguments. */
function shownEntry({ arguments: args, ...entry }: ToolEntry): object {
  if (!args) return entry;
  const shown = Object.entries(args).map(([name, argument]) => {
    const values = Object.entries(argument).map(([key, value]) => [key, shownJson(name, value)]);
    return [name, Object.fromEntries(values)];
  });
  return { ...entry, arguments: Object.fromEntries(shown) };
}

function shownJson(name: string, value: unknown): unknown {
  if (typeof value === "string") return shownValue(name, value);
  if (Array.isArray(value)) return value.map((each) => shownJson(name, each));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, shownJson(key, each)]));
}

function authLines(auth: NonNullable<ParsedConfig["auth"]>, line: MakeLine): TrustLine[] {
  const { oidc: { introspection, scim, ...oidc } = {}, sealingKey, sealingKeyFile } = auth;
  const masked = <T extends { clientSecret?: string | undefined }>({ clientSecret, ...rest }: T) =>
    clientSecret === undefined ? rest : { ...rest, clientSecret: shownValue("clientSecret", clientSecret, true) };
  const asking = introspection ? { introspection: masked(introspection) } : {};
  const directory = scim ? { scim: { ...scim, token: shownValue("token", scim.token, true) } } : {};
  return [
    line("oidc", JSON.stringify({ ...masked(oidc), ...asking, ...directory }), auth),
    ...(sealingKey ?? []).map((key) => line("seal with", shownValue("sealingKey", key, true), key)),
    ...(sealingKeyFile === undefined ? [] : [line("seal with keys in", sealingKeyFile)]),
    ...readLines(variablesIn(auth), line),
    ...referenceLines(auth, line),
  ];
}

function modelLines(llm: NonNullable<ParsedConfig["llm"]>, line: MakeLine): TrustLine[] {
  const { preset, baseUrl, model, apiKey, headers = {} } = llm;
  const usual = [apiKey === undefined ? usualVariable(preset) : undefined].filter((each) => each !== undefined);
  const where = [preset, baseUrl === undefined ? undefined : shownAddress(baseUrl), model].filter(Boolean).join(" ");
  return [
    line("send tasks to", where, [preset, baseUrl, model]),
    ...(apiKey === undefined ? [] : [line("send", `key ${shownValue("apiKey", apiKey, true)}`, apiKey)]),
    ...Object.entries(headers).map(([name, value]) =>
      line("send", `${name}: ${shownValue(name, value, true)}`, [name, value]),
    ),
    ...readLines(variablesIn(llm).union(new Set(usual)), line),
    ...referenceLines(llm, line),
  ];
}

function noticeLines({ url, contents, secret }: ApprovalNotice, line: MakeLine): TrustLine[] {
  const what = contents ? "the calls that wait, with their arguments" : "the names of calls that wait";
  return [
    line(`send ${what} to`, shownAddress(url), [url, contents]),
    ...readLines(variablesIn([url, secret]), line),
    ...referenceLines([url, secret], line),
  ];
}

function telemetryLines({ endpoint, headers = {}, ...rest }: TelemetryEntry, line: MakeLine): TrustLine[] {
  const others = Object.entries(rest).filter(([, value]) => value !== undefined);
  return [
    ...(endpoint === undefined ? [] : [line("send what programs do to", shownAddress(endpoint), endpoint)]),
    ...Object.entries(headers).map(([name, value]) =>
      line("send", `${name}: ${shownValue(name, value, true)}`, [name, value]),
    ),
    ...others.map(([key, value]) => line(key, JSON.stringify(value), [key, value])),
    ...readLines(variablesIn({ endpoint, headers }), line),
    ...referenceLines({ endpoint, headers }, line),
  ];
}

const hidden = "***";

/** One word without slashes, spaces or shell syntax, so that it is neither a path nor a command. */
const plainWord = /^[\w+=.:~%-]{6,}$/;
const reference = /\$\{[^}]*\}/;
const knownToken = /^(?:gh[pousr]_|github_pat_|glpat-|sk-|xox[abeprs]-|AKIA|AIza|eyJ)[\w.-]{12,}$/;
const nameOfProgram = /cmd|command|askpass|program|exec|hook|helper/i;

/**
 * Hides a secret, but only if the value cannot be a program: a hostile config must not hide a command behind a name such as
 * PASSWORD. `isData` is a value that cannot be run, such as a header's: it is hidden if its name suggests a secret.
 */
function shownValue(name: string, value: string, isData = false): string {
  const [, scheme = "", rest = value] = /^((?:Bearer|Basic|Token|ApiKey|Digest) +)(.+)$/is.exec(value) ?? [];
  if (reference.test(rest)) return value;
  if (knownToken.test(rest)) return scheme + hidden;
  if (!speaksOfSecret(name) && scheme === "") return value;
  if (isData) return scheme + hidden;
  return plainWord.test(rest) && !nameOfProgram.test(name) ? scheme + hidden : value;
}

function shownArguments(args: readonly string[]): string[] {
  return args.map((text, index) => {
    const [, before = "", name = "", value = ""] = /^((-{0,2}[\w-]+)[=:])(.+)$/s.exec(text) ?? [];
    if (name !== "") return before + shownValue(name.replace(/^-+/, ""), value);
    const [, flag = ""] = /^--?([\w-]+)$/.exec(args[index - 1] ?? "") ?? [];
    if (flag !== "" && !text.startsWith("-")) return shownValue(flag, text);
    return knownToken.test(text) ? hidden : shownAddress(text);
  });
}

/** Hides user info and query values, and escapes non-ASCII letters, which can look like ASCII ones. */
function shownAddress(text: string): string {
  if (!/^[a-z][a-z\d+.-]*:\/\//i.test(text)) return text;
  return text
    .replace(/^([a-z][a-z\d+.-]*:\/\/)(?!\$\{)[^\s/@?#]+@/i, `$1${hidden}@`)
    .replace(/([?&][^=&\s]*=)(?!\$\{)[^&\s#]+/g, `$1${hidden}`)
    .replace(/[^\x20-\x7e]/gu, (letter) => `\\u{${letter.codePointAt(0)?.toString(16)}}`);
}
