/** Checks the conditions of a config's rules. Only a config with rules loads the library. */
import { findNodeAtLocation, parseTree } from "jsonc-parser";
import type { ParsedConfig } from "./parse.ts";
import { readRule } from "./policy.ts";
import { fail, shorten } from "./problems.ts";

/** Throws CONFIG_INVALID with all conditions that have a mistake, in the order of the file. */
export async function checkConditions({ policy }: ParsedConfig, text: string, file: string): Promise<void> {
  const rules = policy?.rules ?? [];
  if (rules.length === 0) return;
  const { conditionProblem } = await import("./condition.ts");
  const found = rules.flatMap((rule, index) => {
    const problem = conditionProblem(readRule(rule)?.condition ?? "");
    return problem === undefined ? [] : [{ rule, index, problem }];
  });
  if (found.length === 0) return;
  const root = parseTree(text, [], { allowTrailingComma: true });
  const problems = found.map(({ rule, index, problem }) => {
    const node = root && findNodeAtLocation(root, ["policy", "rules", index]);
    const shown = shorten(JSON.stringify(rule));
    return { offset: node?.offset ?? 0, text: `policy.rules[${index}]: ${problem}, found ${shown}` };
  });
  fail(file, text, problems);
}
