/** What is said about an outcome that is ok and looks wrong. Loaded when it does; says only what is certain. */
import type { Program } from "acorn";
import { isMember, propertyName } from "../ast/nodes.ts";
import type { Tree } from "../ast/tree.ts";
import type { LogEntry } from "../contract.ts";
import { neverTrue } from "./comparisons.ts";
import { idleCode } from "./idle-code.ts";
import { lostWork } from "./lost-work.ts";
import { type Missing, missingProperties, missingText } from "./missing-properties.ts";
import { mapAsObject, nanCauses } from "./nan-causes.ts";
import { nothingReturned } from "./nothing-returned.ts";
import { type Notes, oddValues, textOddities } from "./odd-values.ts";
import { listKeys, shapeOf } from "./shapes.ts";
import type { Surroundings } from "./surroundings.ts";
import { swallowed } from "./swallowed.ts";

export interface Result {
  program: Program;
  json: string | undefined;
  notes: Notes | undefined;
  logs: readonly LogEntry[];
  /** Whether something was displayed to the host. */
  displayed: boolean;
  failures: readonly FirstFailure[];
}

/** A tool that failed at times, and how it did so first. */
export interface FirstFailure {
  tool: string;
  calls: number;
  failures: number;
  code?: string | undefined;
  message: string;
  hint?: string | undefined;
}

const maxWarnings = 5;

export function warningsFor(result: Result, around: Surroundings): string[] {
  const missing = missingWarnings(result, around);
  const nan =
    /"(?:NaN|-?Infinity)"|NaN/.test(result.json ?? "") || result.logs.some(({ text }) => text.includes("NaN"));
  const causes = [...(nan && missing.length === 0 ? nanCauses(around) : []), ...mapAsObject(around)];
  const isExplained =
    missing.length > 0 || causes.length > 0 || result.logs.some(({ text }) => text.startsWith("warning, line"));
  const all = [
    ...swallowed(result),
    ...missing,
    ...causes,
    ...unawaited(result, around),
    ...neverTrue(result, around),
    ...nothingReturned(around),
    ...lostWork(result, around),
    ...oddValues(result, isExplained),
    ...(isExplained ? [] : textOddities(result, around)),
    ...idleCode(result, around),
  ];
  return [...new Set(all)]
    .slice(0, maxWarnings)
    .map((text) => `warning${text.startsWith("line ") ? "," : ":"} ${text}`);
}

/** Properties that nothing has: where another is meant, or where the result shows that it was wanted. */
function missingWarnings({ notes, json = "", logs }: Result, { values }: Surroundings): string[] {
  const odd = notes?.odd.some(({ kind }) => kind === "NaN" || kind === "undefined");
  const shown = odd || /undefined|NaN/.test(json) || logs.some(({ text }) => /undefined|NaN/.test(text));
  const empty = json === "" || /^(?:0|\[\]|\{\}|null)$/.test(json);
  const told = new Set<string>();
  // Behind ?. and ?? a wrong name is no error, and nothing comes of it.
  const hidden = empty ? missingProperties(values, true).filter((each) => isOnlyWay(each, values.tree)) : [];
  return [...missingProperties(values), ...hidden].flatMap((missing) => {
    const { object, property, line, meant, seen } = missing;
    if (told.has(`${object}.${property}`) || !(meant !== undefined || shown || empty)) return [];
    told.add(`${object}.${property}`);
    if (property === "length" && seen.whole)
      return `line ${line}: ${object} is ${shapeOf(seen.values)}, not a list, and has no length.${lengthOf(missing)}`;
    return `line ${line}: ${missingText(missing)}`;
  });
}

function lengthOf({ seen, object }: Missing): string {
  const lists = listKeys(seen);
  return lists.length === 1 ? ` Write ${object}.${lists[0]}.length.` : "";
}

/** A property of a tool's promise, which the guest saw being read. */
function unawaited({ notes }: Result, { values: { tree } }: Surroundings): string[] {
  return (notes?.unawaited ?? []).flatMap(({ tool, key }) => {
    const read = tree.nodes.filter(isMember).find((node) => propertyName(node) === key);
    const where = read ? `line ${tree.line(read)}: ` : "";
    return `${where}${key} was read from the promise of ${tool}(…): put await in front of the call.`;
  });
}

/** A key of a tool's value that is not there, where no other key of that value is tried. */
function isOnlyWay({ node, object, seen }: Missing, tree: Tree): boolean {
  const chain = [...tree.ancestors(node)].filter((each) => each.type === "LogicalExpression").at(-1) ?? node;
  const tried = tree.nodes.filter(isMember).filter((each) => {
    return tree.text(each.object) === object && chain.start <= each.start && each.end <= chain.end;
  });
  return seen.whole && tried.length === 1;
}
