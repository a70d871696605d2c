/** Rules of a config that name arguments that their tools do not have, as far as the registry knows these tools. */
import { isObject } from "../base/json-object.ts";
import type { Config } from "../config/load.ts";
import { unknownArgument } from "../policy/rules.ts";
import { type RegistryServer, toolId } from "./model.ts";

export interface RuleProblem {
  /** The place in the config. */
  line: string;
  problem: string;
}

export async function ruleProblems(config: Config, servers: readonly RegistryServer[]): Promise<RuleProblem[]> {
  const [rules] = [...config.servers.values()].flatMap(({ policy }) => (policy?.rules ? [policy.rules] : []));
  if (!rules) return [];
  const { conditionOf } = await import("../config/condition.ts");
  return rules.flatMap(({ condition, line }) => {
    const read = conditionOf(condition);
    return servers.flatMap(({ name: server, tools }) =>
      tools.flatMap(({ name, inputSchema, edit }) => {
        const properties = inputSchema["properties"];
        const known = () => (isObject(properties) && edit === undefined ? Object.keys(properties) : undefined);
        const problem = unknownArgument(read, toolId(server, name), known);
        return problem === undefined ? [] : [{ line, problem }];
      }),
    );
  });
}
