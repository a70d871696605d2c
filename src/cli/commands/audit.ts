/** `claudikins audit`: the log of decisions, as a list, checked, or exported. */

import { appendFileSync } from "node:fs";
import { resolve } from "node:path";
import { counted } from "../../base/counted.ts";
import { ClaudikinsError, messageOf } from "../../base/errors.ts";
import { readIfThere } from "../../base/files.ts";
import { about, list as listOf, number, record, text, texts, yesOrNo } from "../../base/json-shape.ts";
import { visible } from "../../policy/hidden-characters.ts";
import { scopeText } from "../../store/approval.ts";
import { type AuditLine, decisions, lineShape } from "../../store/audit/event.ts";
import { type AuditFilter, auditEntries, deciderText, newestEntries, subjectOf } from "../../store/audit/read.ts";
import { verify as verifyLog } from "../../store/audit/verify.ts";
import { openStore } from "../../store/open.ts";
import { type ArgumentValues, command, flag, option, place } from "../command.ts";
import { countUpTo, oneWordOf, pastTime } from "../flags/flags.ts";
import type { Io } from "../io.ts";
import { defaultRows } from "../limits.ts";
import { listAnswer, localTime } from "../output/nouns.ts";
import { requireConsent } from "../terminal/prompt.ts";
import { stateCell } from "../terminal/terminal-output.ts";

const filterArgs = {
  since: option("Only entries since then: 30m, 12h, 7d or a date such as 2026-11-23", pastTime),
  server: option("Only decisions about this server", { valueHint: "name", complete: "server" }),
  tool: option("Only decisions about this tool", { valueHint: "server.tool", complete: "tool" }),
  execution: option("Only decisions about this execution", { valueHint: "id", complete: "execution" }),
  user: option("Only what this person has decided, and what is about the person: an id, an email address or a name", {
    valueHint: "person",
    complete: "person",
  }),
  config: option("Only entries about this config file", { valueHint: "file", complete: "file" }),
  decision: option("Only this decision", { valueHint: "word", ...oneWordOf(decisions) }),
} as const;

export const list = command({
  description:
    "List the latest entries of the audit log, newest first: approvals, denials and expired questions, changes of the policy, trust, tokens and people. Entries have a digest of the arguments, not the arguments.",
  args: {
    ...filterArgs,
    limit: option(`Maximum number of entries (default ${defaultRows})`, { short: "n", ...countUpTo(100_000) }),
  },
  examples: [
    "claudikins audit",
    "claudikins audit list --since 7d --server github",
    "claudikins audit --decision denied --json",
  ],
  json: record({ entries: listOf(lineShape) }),
  async run(args, io) {
    await using store = openStore(io.env);
    const entries = await newestEntries(store.audit, filterOf(args, io), args.limit ?? defaultRows);
    return listAnswer(io, { json: { entries }, rows: entries, none: "The audit log has no such entries.\n" }, [
      ["entry", ({ entry }) => String(entry)],
      ["when", ({ at }) => localTime(at)],
      ["decision", ({ decision, scope }) => stateCell(`${decision}${scopeText(scope)}`)],
      [{ text: "about" }, (line) => visible(subjectOf(line))],
      ["by", (line) => visible(deciderText(line))],
      ["where", ({ by }) => by.place ?? ""],
    ]);
  },
});

export const verify = command({
  description:
    "Check the chain of the audit log: every entry has the hash of the entry before it. Ends with exit code 1 if an entry was changed, inserted or removed. Note the last hash elsewhere, and a later check with --contains proves that nothing before it has changed. --anchor does both with a file.",
  args: {
    contains: option("Hash of an entry that must be part of the log", { valueHint: "sha256", parse: hashOf }),
    anchor: option(
      "File with hashes, on another machine's disk: the last one must be part of the log, and the newest one is added",
      { valueHint: "file", complete: "file" },
    ),
  },
  examples: ["claudikins audit verify", "claudikins audit verify --anchor /mnt/elsewhere/audit-hashes"],
  json: record({
    entries: about("The number of entries up to the first problem", number),
    sha256: about("The hash of the last of these entries", text),
    "problem?": text,
    notes: texts,
    "contains?": yesOrNo,
  }),
  async run(args, { env, cwd }) {
    if (args.contains !== undefined && args.anchor !== undefined)
      throw new ClaudikinsError("USAGE", "Use only one of --contains and --anchor");
    const file = args.anchor === undefined ? undefined : resolve(cwd, args.anchor);
    const wanted = file === undefined ? args.contains : lastAnchor(file);
    await using store = openStore(env);
    const json = await verifyLog(store.audit, wanted);
    const { entries, sha256, problem, notes, contains } = json;
    const exitCode = problem || contains === false ? 1 : 0;
    if (file !== undefined && exitCode === 0 && entries > 0 && sha256 !== wanted) addAnchor(file, json);
    const hash = `The last hash is ${sha256}\n`;
    const holds = problem
      ? `The log holds up to entry ${entries}: ${problem}\n`
      : `The log holds: ${counted(entries, "entry", "entries")}\n`;
    const found = contains === undefined ? "" : `The log ${contains ? "contains" : "does not contain"} ${wanted}\n`;
    return {
      json,
      text: `${holds}${hash}${found}`,
      note: notes.map((note) => `note: ${note}\n`).join(""),
      exitCode,
    };
  },
});

/** The columns of the CSV. */
const columns: Record<string, (line: AuditLine) => unknown> = {
  entry: ({ entry }) => entry,
  time: ({ at }) => new Date(at).toISOString(),
  decision: ({ decision }) => decision,
  scope: ({ scope }) => scope,
  server: ({ server }) => server,
  tool: ({ tool }) => tool,
  execution: ({ execution }) => execution,
  call: ({ call }) => call,
  line: ({ line }) => line,
  approval: ({ approval }) => approval,
  arguments: (line) => line.arguments?.sha256,
  bytes: (line) => line.arguments?.bytes,
  config: ({ config }) => config,
  detail: ({ changes, servers, token, why }) =>
    changes || token ? JSON.stringify(changes ?? token) : (servers?.join(" ") ?? why),
  place: ({ by }) => by.place,
  user: ({ by }) => by.user,
  parent: ({ by }) => by.parent,
  terminal: ({ by }) => by.terminal,
  decider: ({ by }) => by.person?.name,
  person: ({ person }) => person?.name,
};

const exported = command({
  description:
    "Print the entries of the audit log, oldest first, for other programs. JSON lines are the lines of the log, with their hashes.",
  args: {
    ...filterArgs,
    format: option("Format of the output (default jsonl)", {
      valueHint: "format",
      ...oneWordOf(["jsonl", "csv"] as const),
    }),
  },
  examples: ["claudikins audit export > audit.jsonl", "claudikins audit export --format csv --since 2026-01-01"],
  async run(args, io) {
    await using store = openStore(io.env);
    const lines = await Array.fromAsync(auditEntries(store.audit, filterOf(args, io)));
    if (args.format !== "csv") return { text: lines.map((line) => `${JSON.stringify(line)}\n`).join("") };
    const cells = Object.values(columns);
    const rows = lines.map((line) => cells.map((cellOf) => csvCell(String(cellOf(line) ?? ""))));
    const text = [Object.keys(columns), ...rows].map((row) => `${row.join(",")}\r\n`).join("");
    return { text };
  },
});

export { exported as export };

export const cut = command({
  description:
    "Remove the oldest entries of the audit log for good, up to the first one that is not older than the given time. The rest still holds: an entry says what was removed, and by whom.",
  args: {
    time: place("Entries from before then are removed: an age such as 400d, or a date such as 2026-11-23", {
      required: true,
      parse: pastTime.parse,
    }),
    yes: flag("Remove without asking", { short: "y" }),
  },
  examples: ["claudikins audit cut 400d --yes", "claudikins audit cut 2026-01-01 --yes"],
  json: record({ removed: number }),
  async run({ time: before, yes }, io) {
    await requireConsent(io, yes, {
      question: `Remove all entries from before ${localTime(before)}? They cannot be restored.`,
      needed: "Entries are removed only with your consent",
      hint: "Run the command at a terminal, or add --yes. To keep a copy: claudikins audit export",
      refused: "Nothing was removed",
    });
    const { cutAuditLog } = await import("../../store/audit/record.ts");
    const removed = await cutAuditLog(io.env, before);
    return { json: { removed }, text: `Removed ${counted(removed, "entry", "entries")}\n` };
  },
});

function filterOf({ config, ...filter }: ArgumentValues<typeof filterArgs>, { cwd }: Io): AuditFilter {
  return { ...filter, config: config === undefined ? undefined : resolve(cwd, config) };
}

/** A spreadsheet runs texts that begin like a formula. */
function csvCell(value: string): string {
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Throws USAGE. */
function hashOf(text: string, flag: string): string {
  if (/^[0-9a-f]{64}$/.test(text)) return text;
  throw new ClaudikinsError("USAGE", `${flag} takes a hash of 64 hexadecimal digits; got "${text}"`);
}

/** The hash in the last line of the file. Undefined for a file that is missing or empty. Throws CONFIG_INVALID for another file. */
function lastAnchor(file: string): string | undefined {
  const last = (readIfThere(file) ?? "").trimEnd().split("\n").at(-1);
  if (last === undefined || last === "") return undefined;
  const [, hash] = /^\S+ \d+ ([0-9a-f]{64})$/.exec(last) ?? [];
  if (hash !== undefined) return hash;
  throw new ClaudikinsError(
    "CONFIG_INVALID",
    `The last line of ${file} is not an anchor: a time, an entry and a hash`,
    {
      hint: "Name a file that `claudikins audit verify --anchor` has written, or one that does not exist yet.",
    },
  );
}

/** Throws FILE_NOT_WRITABLE. */
function addAnchor(file: string, { entries, sha256 }: { entries: number; sha256: string }): void {
  try {
    appendFileSync(file, `${new Date().toISOString()} ${entries} ${sha256}\n`, { flush: true });
  } catch (cause) {
    throw new ClaudikinsError("FILE_NOT_WRITABLE", `Cannot write ${file}: ${messageOf(cause)}`, { cause });
  }
}
