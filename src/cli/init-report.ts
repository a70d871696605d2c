/** What init says to people, and its JSON. */
import type { Redact } from "../clients/secrets.ts";
import type { Config, ServerConfig } from "../config/load.ts";
import type { Applied } from "../flows/hosts/apply.ts";
import type { Found } from "../flows/hosts/find.ts";
import type { Measured } from "../flows/hosts/measure.ts";
import type { Conflict, MergedServer, Origin } from "../flows/hosts/merge.ts";
import type { PortableEntry } from "../hosts/model.ts";
import { about, list, number, oneOf, problem, record, text, texts, yesOrNo } from "./shapes.ts";
import { table } from "./table.ts";

const file = { host: text, file: text };

export const initShape = record({
  config: record({ file: text, written: yesOrNo }),
  servers: list(
    record({
      server: text,
      from: list(record({ ...file, "project?": text })),
      transport: text,
      needs: about("Variables that are not set, or a sign-in", texts),
      "disabled?": { const: true },
      new: about("Not in the config before", yesOrNo),
      "notes?": texts,
      "tools?": number,
      "tokens?": about("Of their definitions: an estimate", number),
      "problem?": problem,
    }),
  ),
  skipped: about("What stays where it is", list(record({ name: text, ...file, why: text }))),
  shared: about("Files of this project: --project takes them, too", list(record({ ...file, servers: number }))),
  hosts: list(
    record({ ...file, result: oneOf("rewired", "not rewired", "would be rewired", "failed"), "error?": text }),
  ),
  "diff?": about("With --dry-run", text),
});

export interface Row {
  server: string;
  from: { host: string; file: string; project?: string }[];
  transport: string;
  /** Variables that are not set, or a sign-in. */
  needs: string[];
  disabled?: true;
  /** Not in the config yet. */
  new: boolean;
  notes?: string[];
  tools?: number;
  /** An estimate. */
  tokens?: number;
  problem?: { code: string; message: string; hint?: string };
}

export function rowsOf(servers: MergedServer[], config: Config, measured: ReadonlyMap<string, Measured>): Row[] {
  return servers.map(({ name, entry, from, notes, isThere }) => {
    const configured = config.servers.get(name);
    const answer = measured.get(name);
    const isSignedOut = answer?.tools === undefined && answer?.problem.code === "AUTH_REQUIRED";
    const problem = answer?.tools === undefined && !isSignedOut ? answer?.problem : undefined;
    return {
      server: name,
      from: from.map(originJson),
      transport: transportText(configured, entry),
      needs: [...(configured?.needs ?? []), ...(isSignedOut ? ["sign-in"] : [])],
      ...(configured ? {} : { disabled: true as const }),
      new: !isThere,
      ...(notes.length > 0 ? { notes } : {}),
      ...(answer?.tools === undefined ? {} : { tools: answer.tools, tokens: answer.tokens }),
      ...(problem ? { problem } : {}),
    };
  });
}

function originJson({ host, file, folder }: Origin): Row["from"][number] {
  return { host, file, ...(folder === undefined ? {} : { project: folder }) };
}

function transportText(server: ServerConfig | undefined, entry: PortableEntry): string {
  if (server?.url !== undefined) return server.transport === "auto" ? "http" : server.transport;
  return server || entry["command"] !== undefined ? "stdio" : "http";
}

export function inventoryTable(rows: Row[], columns: number | undefined): string {
  const head = ["server", "from", "transport", "needs", "tools", "tokens (about)"];
  return table(
    head,
    rows.map(({ server, from, transport, needs, disabled, tools, tokens, problem }) => [
      server,
      [...new Set(from.map(({ host }) => host))].join(", "),
      transport,
      disabled ? "switched off" : needs.join(", ") || "-",
      problem ? "failed" : String(tools ?? "-"),
      tokens === undefined ? "-" : tokens.toLocaleString("en-US"),
    ]),
    columns,
  );
}

/** What all of it takes of a context now, and then. */
export function sumText(rows: Row[], surfaceTokens: number): string {
  const measured = rows.filter(({ tokens }) => tokens !== undefined);
  if (measured.length === 0) return "";
  const sum = (key: "tools" | "tokens") =>
    measured.reduce((all, row) => all + (row[key] ?? 0), 0).toLocaleString("en-US");
  return `\n${sum("tools")} tools of ${measured.length} ${measured.length === 1 ? "server" : "servers"}: about ${sum("tokens")} tokens of definitions (an estimate); claudikins shows ${surfaceTokens} at most.\n`;
}

export function notesText(rows: Row[], found: Found): string {
  const lines = [
    ...rows.flatMap(({ server, notes = [] }) => notes.map((note) => `note: ${server}: ${note}`)),
    ...rows.flatMap(({ problem }) => (problem ? [`warning: ${problem.message}`] : [])),
    ...found.files.flatMap(({ skipped }) =>
      skipped.map(({ name, file, why }) => `note: ${name} in ${file} stays there: ${why}`),
    ),
    ...found.shared.map(
      ({ file, servers }) =>
        `note: ${file} has ${servers} ${servers === 1 ? "server" : "servers"} of this project: add --project to take them over`,
    ),
    ...found.problems.map(({ error }) => `error: ${error.message}`),
  ];
  return lines.length === 0 ? "" : `\n${lines.join("\n")}\n`;
}

/** One line a choice: where it comes from, and what it starts. */
export function choiceTexts({ choices }: Conflict, mask: Redact): string[] {
  const ways = choices.map(({ entry }) => mask(entryText(entry)));
  return choices.map(({ from }, place) => {
    const where = from.map(({ host, folder }) => (folder === undefined ? host : `${host} (${folder})`));
    const way = ways[place] ?? "";
    const looksTheSame = ways.filter((other) => other === way).length > 1;
    return `${[...new Set(where)].join(", ")}: ${way}${looksTheSame ? ", with another secret or setting" : ""}`;
  });
}

function entryText(entry: PortableEntry): string {
  const { command, args, url, serverUrl, httpUrl, env, headers } = entry;
  const names = Object.keys({ ...(env as object), ...(headers as object) });
  const way =
    command === undefined ? String(url ?? serverUrl ?? httpUrl) : [command, ...((args as string[]) ?? [])].join(" ");
  return names.length === 0 ? way : `${way} (with ${names.join(", ")})`;
}

export function appliedLines(applied: Applied[]): string {
  return applied
    .map(({ host, file, error }) => (error ? `error: ${error.message}\n` : `Rewired ${host}: ${file}\n`))
    .join("");
}
