/**
 * The pages that show figures. The README has numbers in prose, each followed by the name of its figure.
 * docs/benchmarks.md also has all tables, between two marks.
 */
import type { Figure, Results } from "./figures.ts";
import { figure as figureText, otherText, percent, ratioText } from "./report.ts";

const begin = "<!-- bench:begin -->";
const end = "<!-- bench:end -->";

/** The page with all tables. */
export const benchmarks = "docs/benchmarks.md";

/** The pages that a run is published to, from the root of the repository. */
export const pages = ["README.md", benchmarks] as const;

/** `26 ms<!-- figure: call.next -->`: the number before the comment is written here. */
const inProse = /(\S+(?: (?:ms|MB|tokens|%|round trips|tasks|tools|executions))?)<!-- figure: ([^ ]+) -->/g;

/** The page with the figures of these results. Throws when it names an unknown figure, or has a begin mark without an end mark. */
export function withFigures(page: string, results: Results): string {
  const prose = (text: string) => text.replace(inProse, (_, __, id) => `${textOf(results, id)}<!-- figure: ${id} -->`);
  const [start, stop] = [page.indexOf(begin), page.indexOf(end)];
  if (start === -1 && stop === -1) return prose(page);
  if (start === -1 || stop < start) throw new Error(`the page needs ${begin} with ${end} after it`);
  const [before, after] = [page.slice(0, start), page.slice(stop + end.length)];
  return `${prose(before)}${begin}\n${block(results)}\n${end}${prose(after)}`;
}

/**
 * The text of `id`, `id/peer` (its value), `id/peer/ratio` (ours divided by it) or `id/peer/saved` (how much less ours is).
 * Peers may have a slash in their names.
 */
export function textOf(results: Results, name: string): string {
  const figures = results.sections.flatMap(({ figures }) => figures);
  const [id = "", ...rest] = name.split("/");
  const found = figures.find((each) => each.id === id);
  if (!found) throw new Error(`the bench has printed no figure ${id}`);
  if (rest.length === 0) return figureText(found.value, found.unit);
  const asked = rest.at(-1) === "ratio" || rest.at(-1) === "saved" ? rest.pop() : "value";
  const other = found.peers[rest.join("/").replaceAll("_", " ")];
  if (!other || "none" in other) throw new Error(`${id} has no ${rest.join("/")} beside it`);
  if (asked === "value") return figureText(other.value, found.unit);
  if (other.ratio === undefined) throw new Error(`${id} has no ratio to ${rest.join("/")}`);
  return asked === "ratio" ? ratioText(other.ratio) : percent(1 - other.ratio);
}

/** Problems of a page: figures that differ from the results, and numbers in prose that name no figure. */
export function problemsOf(page: string, results: Results | undefined, fixed: readonly string[] = []): string[] {
  const problems: string[] = [];
  if (results) {
    if (withFigures(page, results) !== page)
      problems.push("the figures differ from the results; to write them: bun run bench --write");
  } else if (page.includes(begin) || page.includes("<!-- figure:")) {
    problems.push("there are figures but no results");
  }
  for (const text of bareMeasurements(page))
    if (!fixed.includes(text)) problems.push(`"${text}" is a measurement that names no figure`);
  return problems;
}

/** Numbers with a unit, outside code and the block of tables, that name no figure. */
function bareMeasurements(page: string): string[] {
  const prose = page
    .replace(/<!-- bench:begin -->[\s\S]*?<!-- bench:end -->/, "")
    .replace(/^```[\s\S]*?^```$/gm, "")
    .replace(inProse, "")
    .replace(/`[^`\n]*`/g, "");
  const measured =
    /(?<![\w.])[\d,.]*\d(?: ?(?:ms|s|MB|GB|%|x)(?!\w)| (?:tokens|milliseconds|seconds|times|per cent|round trips)\b)/g;
  return [...prose.matchAll(measured)].map(([text]) => text);
}

/** What each section measures, in one sentence. */
const subjects: Record<string, string> = {
  startup: "Time from the start of a process to its first answers.",
  "first-minute":
    "Time, commands and questions until an agent that was set up for other servers gets its first answer.",
  surface: "Tokens that an agent loads before any work.",
  tasks: "Tokens, round trips and time for whole tasks with four servers: demo, filesystem, memory and everything.",
  probes:
    "Tools whose result an agent must print before a program can use it, and whether real results are as the search said.",
  warm: "Time for `return 1` in a `serve` that is running, as the host sees it.",
  anatomy: "Time of one call of a program, layer by layer.",
  call: "Time for one tool call from a shell. The tool is `everything.echo`.",
  calls: "Time for many tool calls made by one program.",
  many: "Time and CPU for many requests at once, over stdio and HTTP, and how evenly equal callers are served.",
  replica: "CPU of a replica with a Postgres for twenty callers over HTTP, beside a plain proxy of the same server.",
  pool: "Time for concurrent calls over eight servers.",
  protection: "Time of calls and of the start with locks, labels and rules, and without them.",
  "large-result": "Time and memory for one large result.",
  compute: "Time for plain computation. The sandbox interprets code; node:vm, deno and @utcp/code-mode compile it.",
  memory:
    "Memory for each execution that is running, and of serve and the daemon before the first execution, after 100, and at rest.",
  growth: "Growth of the resident size over many executions.",
  cancel: "Time until a busy loop ends after it is cancelled.",
  park: "Size and time of a program that waits on disk.",
  files: "Time for one call of a generated tool file. The tool is `everything.echo`.",
  search: "Time and memory of the search index.",
  quality: "How often a search finds a correct tool, on recorded queries.",
  gen: "Time and memory of `claudikins gen` with many servers.",
};

function block({ run, date, command, machine, peers, sections }: Results): string {
  const missing = Object.entries(peers).flatMap(([name, peer]) =>
    "missing" in peer ? [`${name} was not measured: ${peer.missing}.`] : [],
  );
  const versions = Object.entries(peers).flatMap(([name, peer]) =>
    "version" in peer ? [`${name} ${peer.version}`] : [],
  );
  return [
    `Run ${run} of ${date}: \`${command}\` on ${machine.platform}, ${machine.cpus} CPUs, Bun ${machine.bun}. Measured beside claudikins: ${versions.join(", ")}.`,
    ...missing,
    ...sections.flatMap((section) => ["", ...sectionOf(section)]),
  ].join("\n");
}

function sectionOf(section: Results["sections"][number]): string[] {
  const { name } = section;
  const subject = subjects[name];
  return [
    `### ${name}`,
    "",
    `${subject === undefined ? "" : `${subject} `}To measure it: \`bun run bench --only ${name}\`.`,
    "",
    ...tableOf(section),
  ];
}

/** Minimum number of rows called "<task>: tokens" that become one column. */
const fewestOfColumn = 3;

function tableOf({ figures, notes }: Results["sections"][number]): string[] {
  const columns = [...Map.groupBy(figures, columnOf)].filter(
    ([column, each]) => column !== undefined && each.length >= fewestOfColumn,
  );
  const inMatrix = new Set(columns.flatMap(([, each]) => each));
  const rows = figures.filter((each) => !inMatrix.has(each));
  return [
    ...(rows.length > 0 ? ["| | claudikins | others | how |", "| --- | --- | --- | --- |"] : []),
    ...rows.map((each) => `| ${each.what} | ${oursText(each)} | ${besideText(each)} | ${each.how}, ${each.runs} |`),
    ...(columns.length > 0 ? [...(rows.length > 0 ? [""] : []), ...matrixOf(columns.map(([, each]) => each))] : []),
    ...(notes.length > 0 ? ["", ...notes.map((note) => `- ${note}`)] : []),
  ];
}

const columnOf = ({ what }: Figure): string | undefined => /^.+: (.+)$/.exec(what)?.[1];
const rowOf = ({ what }: Figure): string => what.slice(0, what.lastIndexOf(": "));

/** A line for each task, a column for each quantity. */
function matrixOf(columns: Figure[][]): string[] {
  const rows = new Set(columns.flatMap((each) => each.map(rowOf)));
  const head = columns.map(([first]) => `${columnOf(first!)} (${first!.how}, ${first!.runs})`);
  return [
    `| | ${head.join(" | ")} |`,
    `| --- |${" --- |".repeat(columns.length)}`,
    ...[...rows].map((row) => {
      const cells = columns.map((each) => each.find((figure) => rowOf(figure) === row));
      return `| ${row} | ${cells.map((cell) => (cell ? `**${oursText(cell)}** · ${besideText(cell)}` : "")).join(" | ")} |`;
    }),
  ];
}

function oursText({ value, unit, spread }: Figure): string {
  return `${figureText(value, unit)}${spread === null ? "" : ` ±${percent(spread)}`}`;
}

function besideText({ peers, unit }: Figure): string {
  return Object.entries(peers)
    .map(([name, other]) => `${name} ${"none" in other ? `(${other.none})` : otherText(other, unit)}`)
    .join(" · ");
}
