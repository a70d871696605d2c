/** The findings of doctor as text, grouped by area, with a fix for each problem. */
import { counted, type Finding, type FindingState } from "../doctor/finding.ts";
import { cyan, dim, paint, red } from "./colours.ts";
import { about, list, named, number, oneOf, record, text, texts } from "./shapes.ts";

export const findingShape = named(
  "Finding",
  record({
    id: about("Stable across runs and versions", text),
    area: text,
    state: about(
      "With a warning, things still work; with a problem, something does not",
      oneOf("ok", "warning", "problem"),
    ),
    message: text,
    "details?": texts,
    "repair?": about("A command if there is one, else a sentence", text),
    "code?": about("For a problem: the code of the error that a command would report", text),
    "startMs?": number,
    "listMs?": number,
    "tools?": number,
  }),
);

export const findingsShape = list(findingShape);

const colourOf: Record<FindingState, string> = { ok: dim, warning: cyan, problem: red };

/** Areas whose title differs from their name in the JSON output. */
const titles: Partial<Record<Finding["area"], string>> = { hosts: "agents" };

/** All findings, or with `onlyFaults` the warnings and problems. */
export function findingsText(findings: readonly Finding[], colours: boolean, onlyFaults = false): string {
  const shown = onlyFaults ? findings.filter(({ state }) => state !== "ok") : findings;
  const areas = Map.groupBy(shown, ({ area }) => area);
  return [...areas]
    .map(([area, group]) => `${titles[area] ?? area}\n${group.map((each) => lines(each, colours)).join("")}`)
    .join("\n");
}

const width = "problem".length;

function lines({ state, message, details = [], repair }: Finding, colours: boolean): string {
  const space = " ".repeat(width + 4);
  const mark = paint(state, colourOf[state], colours) + " ".repeat(width - state.length);
  return [
    `  ${mark}  ${message}`,
    ...details.map((line) => `${space}  ${line}`),
    ...(repair === undefined || state === "ok" ? [] : [`${space}${paint("fix", cyan, colours)}: ${repair}`]),
  ]
    .map((line) => `${line}\n`)
    .join("");
}

/** `2 problems and 1 warning.` or `No problems found.` */
export function sumText(findings: readonly Finding[]): string {
  const count = (wanted: FindingState) => findings.filter(({ state }) => state === wanted).length;
  const parts = (["problem", "warning"] as const).flatMap((state) =>
    count(state) === 0 ? [] : [counted(count(state), state)],
  );
  return parts.length === 0 ? "No problems found." : `${parts.join(" and ")}.`;
}
