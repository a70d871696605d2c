/** The problems of rules as they are written in a config. Both readers of the config check the rules here. */
import { misspelling } from "../base/near-names.ts";
import { matches } from "./pattern.ts";
import { type ConfirmMode, confirmModes, flowModes, labels, readRule, splitToolId } from "./policy.ts";

/** Rules of one config. Each is checked for every call. */
const maxRules = 200;

interface PolicyProblem {
  /** The path within the keys. */
  path: (string | number)[];
  text: string;
}

/** Returns the problems in the keys of one place. `names` are the names of all servers, if patterns must begin with one. */
export function policyProblems(
  { allow, deny, confirm, labels: given }: Record<string, unknown>,
  names?: readonly string[],
): PolicyProblem[] {
  return [
    ...listProblems("allow", allow, names),
    ...listProblems("deny", deny, names),
    ...confirmProblems(confirm, names),
    ...labelProblems(given, names),
  ];
}

/** Returns the problems of `policy`. Conditions of rules are checked by check-conditions.ts. */
export function commonProblems(policy: Record<string, unknown>, servers: readonly string[]): PolicyProblem[] {
  return [...policyProblems(policy, servers), ...ruleProblems(policy["rules"]), ...flowProblems(policy["flow"])];
}

function labelProblems(given: unknown, names: readonly string[] | undefined): PolicyProblem[] {
  if (given === undefined) return [];
  if (Array.isArray(given)) {
    const text = labelsProblem(given) ?? (names && "needs server names first: an object that maps patterns to labels");
    return text === undefined ? [] : [{ path: ["labels"], text }];
  }
  if (typeof given !== "object" || given === null) {
    return [
      { path: ["labels"], text: `expected an array of ${labelsText}, or an object that maps tool names to these` },
    ];
  }
  return Object.entries(given).flatMap(([pattern, each]) => {
    const text = patternProblem(pattern, names) ?? labelsProblem(each);
    return text === undefined ? [] : [{ path: ["labels", pattern], text }];
  });
}

const labelsText = labels.map((label) => JSON.stringify(label)).join(", ");

function labelsProblem(given: unknown): string | undefined {
  if (!Array.isArray(given)) return `expected an array of ${labelsText}`;
  const wrong = given.find((each) => !(labels as readonly unknown[]).includes(each));
  if (wrong === undefined) return undefined;
  const meant = typeof wrong === "string" ? misspelling(wrong, labels) : undefined;
  return `${JSON.stringify(wrong)} is not a label: expected ${labelsText}${meant === undefined ? "" : `, did you mean "${meant}"?`}`;
}

function listProblems(key: string, list: unknown, names: readonly string[] | undefined): PolicyProblem[] {
  if (list === undefined) return [];
  if (!Array.isArray(list))
    return [{ path: [key], text: 'expected an array of tool names, where "*" matches any text' }];
  return list.flatMap((pattern: unknown, index) => {
    const text = typeof pattern === "string" ? patternProblem(pattern, names) : "expected a string";
    return text === undefined ? [] : [{ path: [key, index], text }];
  });
}

function confirmProblems(confirm: unknown, names: readonly string[] | undefined): PolicyProblem[] {
  if (confirm === undefined || isMode(confirm)) return [];
  if (typeof confirm === "string") return [{ path: ["confirm"], text: modeProblem(confirm) }];
  if (typeof confirm !== "object" || confirm === null || Array.isArray(confirm)) {
    return [{ path: ["confirm"], text: `expected ${modesText}, or an object that maps tool names to these` }];
  }
  return Object.entries(confirm).flatMap(([pattern, mode]) => {
    const text = patternProblem(pattern, names) ?? (isMode(mode) ? undefined : modeProblem(mode));
    return text === undefined ? [] : [{ path: ["confirm", pattern], text }];
  });
}

/** Returns the problem of a pattern that cannot match as its author expects. */
function patternProblem(pattern: string, names: readonly string[] | undefined): string | undefined {
  if (pattern === "") return "must not be empty";
  if (!names) return undefined;
  if (!pattern.includes(".")) {
    const example = pattern === "*" ? '"*.*"' : `"*.${pattern}" for all servers`;
    return `needs a server name first: ${example}`;
  }
  const { server, isName, tool } = splitToolId(pattern, names);
  if (tool === "") return 'needs a tool name after the dot, or "*"';
  if (isName || names.some((name) => matches(server, name))) return undefined;
  for (let dot = pattern.indexOf("."); dot !== -1; dot = pattern.indexOf(".", dot + 1)) {
    const written = pattern.slice(0, dot);
    const meant = misspelling(written, names);
    if (meant !== undefined) return `no server is called "${written}", did you mean "${meant}"?`;
  }
  return undefined;
}

const modesText = confirmModes.map((mode) => JSON.stringify(mode)).join(" or ");

function isMode(value: unknown): value is ConfirmMode {
  return (confirmModes as readonly unknown[]).includes(value);
}

function modeProblem(value: unknown): string {
  const meant = typeof value === "string" ? misspelling(value, confirmModes) : undefined;
  return `expected ${modesText}${meant === undefined ? "" : `, did you mean "${meant}"?`}`;
}

const ruleText = 'expected "deny when CONDITION" or "confirm when CONDITION"';

function ruleProblems(rules: unknown): PolicyProblem[] {
  if (rules === undefined) return [];
  if (!Array.isArray(rules)) return [{ path: ["rules"], text: "expected an array of rules" }];
  if (rules.length > maxRules) return [{ path: ["rules"], text: `expected at most ${maxRules} rules` }];
  return rules.flatMap((rule: unknown, index) => {
    const isRule = typeof rule === "string" && readRule(rule) !== undefined;
    return isRule ? [] : [{ path: ["rules", index], text: ruleText }];
  });
}

function flowProblems(flow: unknown): PolicyProblem[] {
  if (flow === undefined || (flowModes as readonly unknown[]).includes(flow)) return [];
  const meant = typeof flow === "string" ? misspelling(flow, flowModes) : undefined;
  const modes = flowModes.map((mode) => JSON.stringify(mode)).join(" or ");
  return [{ path: ["flow"], text: `expected ${modes}${meant === undefined ? "" : `, did you mean "${meant}"?`}` }];
}
