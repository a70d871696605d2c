/** Kinds of calls and of answers. Numbers, since every text that crosses the border is copied. */

/** What a call is of: the value of a tool, its whole result, or a function of `server.resources`, `server.prompts`. */
export const callKind = { value: 0, raw: 1, resources: 2, prompts: 3 } as const;
export type CallKind = (typeof callKind)[keyof typeof callKind];

/** What the payload of an answer is. */
export const answerKind = { error: 0, text: 1, json: 2, blocks: 3, jsonOrText: 4 } as const;

/** What every server has beside its tools, unless a tool is called so. */
export const serverMembers: readonly string[] = [
  "resources",
  "prompts",
  "list_resources",
  "read_resource",
  "list_prompts",
  "get_prompt",
];
