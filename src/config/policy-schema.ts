/** The schemas of rules for tools: in the entry of a server, in `policy` and in a door. */
import { z } from "zod";
import { isObject } from "../base/json-object.ts";
import type { CommonPolicy, policyKeys } from "./policy.ts";
import { commonProblems, policyProblems } from "./policy-problems.ts";

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
      for (const { path, text } of commonProblems({ ...value }, servers)) {
        context.addIssue({ code: "custom", path, message: text });
      }
    })
    .optional();
