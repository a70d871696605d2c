/** What a config would do when it is trusted, line by line, as a person is shown it. */

import { usualVariable } from "../../config/llm.ts";
import type { ParsedConfig } from "../../config/parse.ts";
import { type Confirm, type PolicyKeys, policyKeys } from "../../config/policy.ts";
import type { ServerEntry } from "../../config/schema.ts";
import { digestOf, enabledServers, rulesOf, thatCounts } from "../../config/trust/marks.ts";
import type { Line } from "../../config/trust/store.ts";
import { shellWord } from "../../shell-word.ts";
import { shownAddress, shownArguments, shownValue } from "./shown-values.ts";

/** Everything that counts, the servers first; nothing that is harmless. */
export function linesOf(config: ParsedConfig): Line[] {
  const servers = enabledServers(config).flatMap(([name, entry]) => serverLines(name, entry));
  return [...servers, ...ruleLines(config)];
}

function serverLines(name: string, entry: ServerEntry): Line[] {
  const { allow, deny, confirm, ...rest } = thatCounts(entry) as Record<string, unknown> & PolicyKeys;
  const line = lineOf(name);
  const way = entry.url === undefined ? programLines(entry, line) : addressLines(entry, line);
  const named = ["command", "args", "cwd", "env", "url", "headers", "oauth"];
  const others = Object.entries(rest).filter(([key]) => !named.includes(key));
  return [
    ...way,
    ...others.map(([key, value]) => line(key, JSON.stringify(value), value)),
    ...readLines(variablesIn(rest), line),
    ...policyLines({ allow, deny, confirm }, line),
  ];
}

type MakeLine = (label: string, text: string, value?: unknown) => Line;

const lineOf =
  (part: string): MakeLine =>
  (label, text, value = text) => ({ part, label, text, digest: digestOf(value) });

type Program = Extract<ServerEntry, { command: string }>;
type Remote = Exclude<ServerEntry, Program>;

function programLines({ command, args, cwd, env }: Program, line: MakeLine): Line[] {
  const text = [command, ...shownArguments(args)].map(shellWord).join(" ");
  return [
    line("start", text, [command, args]),
    ...(cwd === undefined ? [] : [line("in the folder", cwd)]),
    ...Object.entries(env).map(([name, value]) => line("set", `${name}=${shownValue(name, value)}`, [name, value])),
  ];
}

function addressLines({ url, headers, oauth }: Remote, line: MakeLine): Line[] {
  return [
    line("connect to", shownAddress(url), url),
    ...Object.entries(headers).map(([name, value]) =>
      line("send", `${name}: ${shownValue(name, value, true)}`, [name, value]),
    ),
    ...Object.entries(oauth || {})
      .filter(([, value]) => value !== undefined)
      .map(([key, value]) => line("sign in with", `${key} ${shownValue(key, String(value), true)}`, [key, value])),
    ...(oauth === false ? [line("sign in", "never", false)] : []),
  ];
}

function readLines(names: readonly string[], line: MakeLine): Line[] {
  return names.length === 0 ? [] : [line("read from the environment", names.join(", "))];
}

function policyLines(keys: PolicyKeys, line: MakeLine): Line[] {
  return policyKeys.flatMap((key) => {
    const value = keys[key];
    if (value === undefined) return [];
    const text = Array.isArray(value) ? value.join(", ") || "nothing" : confirmText(value as Confirm);
    return [line(key, text, value)];
  });
}

function confirmText(confirm: Confirm): string {
  if (typeof confirm === "string") return confirm;
  return Object.entries(confirm)
    .map(([pattern, mode]) => `${pattern} ${mode}`)
    .join(", ");
}

function ruleLines(config: ParsedConfig): Line[] {
  const { policy, llm, registry, workspace, executeTask, record, ...others } = rulesOf(config) as Partial<ParsedConfig>;
  const folders = lineOf("folders");
  const model = lineOf("model");
  const executions = lineOf("executions");
  return [
    ...policyLines(policy ?? {}, lineOf("policy")),
    ...(llm === undefined ? [] : modelLines(llm, model)),
    ...(executeTask ? [model("offer", "execute_task, which lets it call tools", executeTask)] : []),
    ...(registry === undefined ? [] : [folders("write generated files to", registry)]),
    ...(workspace === undefined ? [] : [folders("let code write to", workspace)]),
    ...readLines(variablesIn([registry, workspace]), folders),
    ...(record === undefined ? [] : [executions("keep", "arguments and results", record)]),
    ...Object.entries(others).map(([key, value]) => lineOf("config")(key, JSON.stringify(value), value)),
  ];
}

function modelLines(llm: NonNullable<ParsedConfig["llm"]>, line: MakeLine): Line[] {
  const { preset, baseUrl, model, apiKey, headers = {} } = llm;
  const usual = apiKey === undefined ? usualVariable(preset) : undefined;
  const where = [preset, baseUrl === undefined ? undefined : shownAddress(baseUrl), model].filter(Boolean).join(" ");
  return [
    line("send tasks to", where, [preset, baseUrl, model]),
    ...(apiKey === undefined ? [] : [line("send", `key ${shownValue("apiKey", apiKey, true)}`, apiKey)]),
    ...Object.entries(headers).map(([name, value]) =>
      line("send", `${name}: ${shownValue(name, value, true)}`, [name, value]),
    ),
    ...readLines([...new Set([...variablesIn(llm), ...(usual === undefined ? [] : [usual])])], line),
  ];
}

/** The names in all references, also those in the defaults of others. */
export function variablesIn(value: unknown): string[] {
  const found = JSON.stringify(value ?? null).matchAll(/\$\{([A-Za-z_][A-Za-z0-9_]*)/g);
  return [...new Set([...found].map(([, name = ""]) => name))].sort();
}
