/** The schemas of rules for tools: in the entry of a server, in `policy` and in a door. */
import { z } from "zod";
import { isObject } from "../base/json-object.ts";
import { misspelling } from "../base/near-names.ts";
import { maxRules } from "./limits.ts";
import { type CommonPolicy, flowModes, type policyKeys, policyProblems, readRule } from "./policy.ts";

/** The schema of `allow`, `deny` or `confirm`. */
export const policyKey = <T>(key: (typeof policyKeys)[number]) =>
  z
    .custom<T>()
    .superRefine((value, context) => {
      for (const { path, text } of policyProblems({ [key]: value })) {
        context.addIssue({ code: "custom", path: path.slice(1), message: text });
      }
    })
    .optional();

/** The rules for tools of all servers. Patterns are `server.tool`, for example `github.delete_*` and `*.delete_*`. */
export const policySchema = (servers: readonly string[]) =>
  z
    .custom<CommonPolicy>()
    .superRefine((value, context) => {
      if (!isObject(value)) return context.addIssue({ code: "custom", message: "expected an object" });
      const problems = [
        ...policyProblems({ ...value }, servers),
        ...ruleProblems(value["rules"]),
        ...flowProblems(value["flow"]),
      ];
      for (const { path, text } of problems) {
        context.addIssue({ code: "custom", path, message: text });
      }
    })
    .optional();

interface Problem {
  path: (string | number)[];
  text: string;
}

const ruleText = 'expected "deny when CONDITION" or "confirm when CONDITION"';

function ruleProblems(rules: unknown): Problem[] {
  if (rules === undefined) return [];
  if (!Array.isArray(rules)) return [{ path: ["rules"], text: "expected an array of rules" }];
  if (rules.length > maxRules) return [{ path: ["rules"], text: `expected at most ${maxRules} rules` }];
  // Only a config with rules loads the library, and a schema cannot wait.
  const { conditionProblem } = require("./condition.ts") as typeof import("./condition.ts");
  return rules.flatMap((rule: unknown, index) => {
    const read = typeof rule === "string" ? readRule(rule) : undefined;
    const text = read ? conditionProblem(read.condition) : ruleText;
    return text === undefined ? [] : [{ path: ["rules", index], text }];
  });
}

function flowProblems(flow: unknown): Problem[] {
  if (flow === undefined || (flowModes as readonly unknown[]).includes(flow)) return [];
  const meant = typeof flow === "string" ? misspelling(flow, flowModes) : undefined;
  const modes = flowModes.map((mode) => JSON.stringify(mode)).join(" or ");
  return [{ path: ["flow"], text: `expected ${modes}${meant === undefined ? "" : `, did you mean "${meant}"?`}` }];
}
