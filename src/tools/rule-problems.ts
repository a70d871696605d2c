/** Finds rules of a config that cannot be right, by comparing them with the servers, tools and arguments in the registry. */
import { isObject, type JsonObject } from "../base/json-object.ts";
import { typesIn } from "../base/json-schema.ts";
import { misspelling } from "../base/near-names.ts";
import type { Comparison, Condition } from "../config/condition.ts";
import type { Config } from "../config/load.ts";
import { unknownArgument } from "../policy/rules.ts";
import { type RegistryServer, type RegistryTool, toolId } from "./model.ts";

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
    const problems = [
      ...read.comparisons.flatMap((each) => unknownName(each, [...config.servers.keys()], servers) ?? []),
      ...servers.flatMap(({ name, tools }) =>
        tools.flatMap((tool) => argumentProblems(read, toolId(name, tool.name), tool)),
      ),
    ];
    return [...new Set(problems)].map((problem) => ({ line, problem }));
  });
}

/**
 * A server or a tool that does not exist and has a name like an existing one. Other unknown names are not a problem, because a rule of the
 * user may be about servers of other projects.
 */
function unknownName(
  { of, value }: Comparison,
  names: string[],
  servers: readonly RegistryServer[],
): string | undefined {
  if (!("variable" in of) || typeof value !== "string") return undefined;
  if (of.variable === "server") return misspelt("server", value, names);
  if (of.variable !== "tool") return undefined;
  const server = servers.find(({ name }) => value.startsWith(`${name}.`));
  if (!server) return misspelt("server", value.split(".", 1)[0]!, names);
  return misspelt(
    "tool",
    value,
    server.tools.map(({ name }) => toolId(server.name, name)),
  );
}

function misspelt(what: string, name: string, names: string[]): string | undefined {
  const meant = names.includes(name) ? undefined : misspelling(name, names);
  return meant && `there is no ${what} "${name}". Did you mean ${meant}?`;
}

/**
 * Finds arguments in a condition that the tool does not have, or that have another type. Edited tools are skipped, because rules see the
 * arguments that the server receives.
 */
function argumentProblems(condition: Condition, id: string, { inputSchema, edit }: RegistryTool): string[] {
  const properties = inputSchema["properties"];
  if (!isObject(properties) || edit !== undefined) return [];
  const unknown = unknownArgument(condition, id, () => Object.keys(properties));
  if (unknown !== undefined)
    return [`${unknown}${/[?]$/.test(unknown) ? "" : "."} Until then, the rule applies to all calls of it`];
  if (!condition.tools.includes(id)) return [];
  return condition.comparisons.flatMap((each) => wrongType(each, id, properties) ?? []);
}

const textOperators = new Set(["startsWith", "endsWith", "contains", "matches"]);

/** An argument is compared with a value of another type than it has. */
function wrongType({ of, operator, value }: Comparison, id: string, properties: JsonObject): string | undefined {
  if (!("argument" in of)) return undefined;
  const types = typesOf(properties[of.argument]);
  const wanted = typeof value === "string" ? "string" : typeof value === "boolean" ? "boolean" : "number";
  // A list may contain any text.
  const isRight = types?.includes(wanted) || (operator === "contains" && types?.some((each) => each !== "number"));
  if (!types || isRight) return undefined;
  const how = textOperators.has(operator) ? `used with ${operator}` : `compared with a ${wanted}`;
  return `args.${of.argument} of ${id} is ${types.join(" or ")}, and is ${how}`;
}

/** The types of JSON Schema that a property says it has. Undefined if it does not say. */
function typesOf(schema: unknown): string[] | undefined {
  const types = isObject(schema) ? typesIn(schema) : undefined;
  return types?.map((each) => (each === "integer" ? "number" : each));
}
