/** The schema of entries for tools: in `tools` of the config, and in `tools` of a door beside its rules. */
import { z } from "zod";
import { isObject } from "../base/json-object.ts";
import { didYouMean } from "../base/near-names.ts";
import { variablesIn } from "./expand.ts";
import { type PolicyKeys, policyKeys, splitToolId } from "./policy.ts";
import { policyProblems } from "./policy-problems.ts";
import { issueText } from "./problems.ts";
import { editsIn, sharedName, type ToolEntries } from "./tool-edits.ts";

/** Characters of a tool's description. Servers may send as many. */
const maxToolDescriptionChars = 16_384;

const shownText = 'agents see this text: variables can only be used in "value"';

export const argumentFields = {
  value: z.unknown().optional(),
  default: z.unknown().optional(),
  hide: z.boolean().optional(),
};

const argumentSchema = z.object(argumentFields).superRefine((entry, context) => {
  if (!Object.hasOwn(entry, "default")) return;
  const issue = (message: string) => context.addIssue({ code: "custom", path: ["default"], message });
  if (Object.hasOwn(entry, "value")) issue('"value" is always sent, so a default has no effect: remove one of them');
  else if (!entry.hide && variablesIn(entry.default).size > 0) issue(shownText);
});

export const toolFields = {
  /** The tool's name for agents and people. */
  name: z
    .string()
    .regex(/^[\w.-]{1,128}$/, "use at most 128 letters, digits, underscores, dashes and dots")
    .optional(),
  description: z
    .string()
    .min(1)
    .max(maxToolDescriptionChars)
    .refine((text) => variablesIn(text).size === 0, shownText)
    .optional(),
  arguments: z.record(z.string(), argumentSchema).optional(),
};

const entriesSchema = z.record(z.string(), z.object(toolFields));

/** `servers` are the names of all servers of the file. */
export const toolsSchema = (servers: readonly string[]) =>
  z
    .custom<ToolEntries>()
    .superRefine((entries, context) => {
      if (!isObject(entries)) return context.addIssue({ code: "custom", message: "expected an object" });
      for (const [id, message] of keyProblems(Object.keys(entries), servers)) {
        context.addIssue({ code: "custom", path: [id], message });
      }
      if (!checkEntries(entries, context)) return;
      for (const server of servers) {
        const shared = sharedName(editsIn(entries, server, { path: ["tools"], servers }));
        if (!shared) continue;
        const path = [`${server}.${shared.edit.tool}`, "name"];
        context.addIssue({ code: "custom", path, message: shared.problem });
      }
    })
    .optional();

/** Whether the entries are valid. Their problems are added to the context. */
function checkEntries(entries: object, context: z.RefinementCtx): boolean {
  const { error } = entriesSchema.safeParse(entries, { error: issueText, jitless: true });
  for (const { path, message } of error?.issues ?? []) context.addIssue({ code: "custom", path, message });
  return error === undefined;
}

function keyProblems(ids: readonly string[], servers: readonly string[]): [string, string][] {
  return ids.flatMap((id): [string, string][] => {
    const { isName, server, tool } = splitToolId(id, servers);
    if (isName && tool !== "" && !tool.includes("*")) return [];
    if (isName || !id.includes(".")) return [[id, "expected server.tool, with the own name of one tool"]];
    const near = didYouMean(server, servers);
    return [[id, `no server of this file is called "${server}"${near === undefined ? "" : `. ${near}`}`]];
  });
}

/** The rules of a door for tools, and its entries. */
export interface DoorTools extends PolicyKeys {
  entries?: ToolEntries | undefined;
}

/** In `tools` of a door, a key with a dot is a tool. */
export const isToolKey = (key: string) => key.includes(".");

/** The servers of a door's tools are checked when the door is opened, because they may be the user's own. */
export const doorToolsSchema = (servers: readonly string[]) =>
  z
    .custom<Record<string, unknown>>()
    .superRefine((value, context) => {
      if (!isObject(value)) return context.addIssue({ code: "custom", message: "expected an object" });
      for (const { path, text } of policyProblems(value, servers)) {
        context.addIssue({ code: "custom", path, message: text });
      }
      checkEntries(entriesOf(value), context);
    })
    .transform((value): DoorTools => {
      const rules = Object.entries(value).filter(([key]) => (policyKeys as readonly string[]).includes(key));
      const entries = entriesOf(value);
      return { ...Object.fromEntries(rules), ...(Object.keys(entries).length > 0 ? { entries } : {}) };
    })
    .optional();

function entriesOf(value: Record<string, unknown>): ToolEntries {
  return Object.fromEntries(Object.entries(value).filter(([key]) => isToolKey(key))) as ToolEntries;
}
