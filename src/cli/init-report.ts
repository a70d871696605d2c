/** The report of init as text. */
import type { Applied } from "../agents/apply.ts";
import type { Found } from "../agents/find-servers.ts";
import { agents } from "../agents/supported/agents.ts";
import type { Survey } from "../agents/switch-over.ts";
import { type Row, seenJson } from "./init-document.ts";
import { table } from "./table.ts";

export function inventoryTable(rows: Row[], columns: number | undefined): string {
  const head = ["server", "from", "transport", "needs", "tools", "tokens (about)"];
  return table(
    head,
    rows.map(({ server, from, transport, needs, disabled, tools, tokens, problem }) => [
      server,
      [...new Set(from.map(({ host }) => host))].join(", "),
      transport,
      disabled ? "disabled" : needs.join(", ") || "-",
      problem ? "failed" : String(tools ?? "-"),
      tokens === undefined ? "-" : tokens.toLocaleString("en-US"),
    ]),
    columns,
  );
}

/** The tokens of all definitions, without and with claudikins. */
export function sumText(rows: Row[], surfaceTokens: number): string {
  const measured = rows.filter(({ tokens }) => tokens !== undefined);
  if (measured.length === 0) return "";
  const sum = (key: "tools" | "tokens") =>
    measured.reduce((all, row) => all + (row[key] ?? 0), 0).toLocaleString("en-US");
  return `\n${sum("tools")} tools of ${measured.length} ${measured.length === 1 ? "server" : "servers"}: about ${sum("tokens")} tokens of definitions (estimated). With claudikins: at most ${surfaceTokens}.\n`;
}

export function seenText({ found }: Survey): string {
  const lines = seenJson(found.files).map(({ host, file, servers, claudikins }) => {
    const title = agents.find(({ name }) => name === host)?.title ?? host;
    const count = servers === 0 ? "no" : String(servers);
    const noun = servers === 1 ? "server" : "servers";
    const what = claudikins ? `claudikins, and ${count} other ${noun}` : `${count} ${noun}`;
    return `${title} (${file}): ${what}\n`;
  });
  const unreadable = found.problems.map(({ file }) => `${file}: cannot be read\n`);
  if (lines.length + unreadable.length > 0) return [...lines, ...unreadable].join("");
  return `No agent with MCP settings was found. Looked for: ${agents.map(({ title }) => title).join(", ")}.\n`;
}

export function notesText(rows: Row[], found: Found): string {
  const lines = [
    ...rows.flatMap(({ server, notes = [] }) => notes.map((note) => `note: ${server}: ${note}`)),
    ...rows.flatMap(({ problem }) => (problem ? [`warning: ${problem.message}`] : [])),
    ...found.files.flatMap(({ skipped }) =>
      skipped.map(({ name, file, why }) => `note: ${name} stays in ${file}: ${why}`),
    ),
    ...found.shared.map(
      ({ file, servers }) =>
        `note: ${file} has ${servers} ${servers === 1 ? "server" : "servers"} of this project: to import them, add --project`,
    ),
    ...found.problems.map(({ error }) => `error: ${error.message}`),
  ];
  return lines.length === 0 ? "" : `\n${lines.join("\n")}\n`;
}

export function appliedLines(applied: Applied[]): string {
  return applied
    .map(({ host, file, error }) => (error ? `error: ${error.message}\n` : `Changed ${host}: ${file}\n`))
    .join("");
}
