/** The README's figures: a block of tables between two marks, and numbers in prose, each followed by the name of its figure. */
import type { Figure, Results } from "./figures.ts";
import { figure as figureText, otherText, percent, ratioText } from "./report.ts";

const begin = "<!-- bench:begin -->";
const end = "<!-- bench:end -->";

/** `26 ms<!-- figure: call.again -->`; what stands before the mark is what this writes. */
const inProse = /(\S+(?: (?:ms|MB|tokens|%|round trips|tasks))?)<!-- figure: ([^ ]+) -->/g;

/** The README with the figures of these results. Throws where it has no place for them, or names one that there is not. */
export function withFigures(readme: string, results: Results): string {
  const [start, stop] = [readme.indexOf(begin), readme.indexOf(end)];
  if (start === -1 || stop < start) throw new Error(`README.md has no ${begin} with ${end} after it`);
  const prose = (text: string) => text.replace(inProse, (_, __, id) => `${textOf(results, id)}<!-- figure: ${id} -->`);
  const [before, after] = [readme.slice(0, start), readme.slice(stop + end.length)];
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

/** What a README says that its results do not: numbers of prose that have no figure, or another one now. */
export function problemsOf(readme: string, results: Results | undefined, fixed: readonly string[] = []): string[] {
  const problems: string[] = [];
  if (results) {
    const should = withFigures(readme, results);
    if (should !== readme) problems.push("the figures are not those of the results: bun run bench --write");
  } else if (readme.includes(begin) || readme.includes("<!-- figure:")) {
    problems.push("there are figures, and no results that they could be from");
  }
  for (const text of bareMeasurements(readme))
    if (!fixed.includes(text)) problems.push(`"${text}" is a number of nothing that the bench has printed`);
  return problems;
}

/** Numbers with a unit of measurement outside of code and the block, that name no figure. */
function bareMeasurements(readme: string): string[] {
  const prose = readme
    .replace(/<!-- bench:begin -->[\s\S]*?<!-- bench:end -->/, "")
    .replace(/^```[\s\S]*?^```$/gm, "")
    .replace(inProse, "")
    .replace(/`[^`\n]*`/g, "");
  const measured =
    /(?<![\w.])[\d,.]*\d(?: ?(?:ms|s|MB|GB|%|x)(?!\w)| (?:tokens|milliseconds|seconds|times|per cent|round trips)\b)/g;
  return [...prose.matchAll(measured)].map(([text]) => text);
}

function block({ run, date, command, machine, peers, sections }: Results): string {
  const missing = Object.entries(peers).flatMap(([name, peer]) =>
    "missing" in peer ? [`${name} is not measurable here: ${peer.missing}.`] : [],
  );
  const versions = Object.entries(peers).flatMap(([name, peer]) =>
    "version" in peer ? [`${name} ${peer.version}`] : [],
  );
  return [
    `Run ${run}, ${date}: \`${command}\` on ${machine.platform}, ${machine.cpus} CPUs, Bun ${machine.bun}. Beside us: ${versions.join(", ")}.`,
    ...missing,
    "Medians; in brackets ours divided by theirs, and how near that is known to be (95 % probability, less of fewer than five rounds); scattered: no ratio is printed that is not known within 12 %.",
    ...sections.flatMap((section) => [
      "",
      "<details>",
      `<summary>${section.name}</summary>`,
      "",
      ...tableOf(section),
      "",
      "</details>",
    ]),
  ].join("\n");
}

/** From so many on, rows that are called "this: tokens" and "that: tokens" are one column. */
const fewestOfColumn = 3;

function tableOf({ figures, notes }: Results["sections"][number]): string[] {
  const columns = [...Map.groupBy(figures, columnOf)].filter(
    ([column, each]) => column !== undefined && each.length >= fewestOfColumn,
  );
  const inMatrix = new Set(columns.flatMap(([, each]) => each));
  const rows = figures.filter((each) => !inMatrix.has(each));
  return [
    ...(rows.length > 0 ? ["| | claudikins | beside it | origin |", "| --- | --- | --- | --- |"] : []),
    ...rows.map((each) => `| ${each.what} | ${oursText(each)} | ${besideText(each)} | ${each.how}, ${each.runs} |`),
    ...(columns.length > 0 ? ["", ...matrixOf(columns.map(([, each]) => each))] : []),
    ...(notes.length > 0 ? ["", ...notes.map((note) => `- ${note}`)] : []),
  ];
}

const columnOf = ({ what }: Figure): string | undefined => /^.+: (.+)$/.exec(what)?.[1];
const rowOf = ({ what }: Figure): string => what.slice(0, what.lastIndexOf(": "));

/** A line for each thing that was done, and a column for each that was counted of it. */
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
