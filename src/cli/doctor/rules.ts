/** Doctor check of the rules with conditions: whether they can be right. */
import { ruleProblems } from "../../tools/rule-problems.ts";
import { type CheckParts, type Finding, findingsOf } from "./finding.ts";

const { ok, problem } = findingsOf("config");

export async function ruleFindings({ config, catalog }: CheckParts): Promise<Finding[]> {
  const rules = [...config.servers.values()].find(({ policy }) => policy?.rules)?.policy?.rules ?? [];
  if (rules.length === 0) return [];
  const servers = catalog.names.flatMap(({ name }) => catalog.findWithDenied(name) ?? []);
  const problems = await ruleProblems(config, servers);
  if (problems.length === 0) return [ok("config.rules", `Rules with conditions: ${rules.length}`)];
  return problems.map(({ line, problem: text }) =>
    problem("config.rules", `${line}: ${text}`, "CONFIG_INVALID", "Correct the rule: claudikins config edit"),
  );
}
