/** What the guest and its host agree on. Kinds are numbers, because every text that crosses the border is copied. */

/**
 * The kind of a call: a tool for its value, a tool for its whole result, or a function of `server.resources`, `server.prompts` or
 * `server.skills`. A page is a whole result, too.
 */
export const callKind = { value: 0, raw: 1, resources: 2, prompts: 3, skills: 4, page: 5 } as const;
export type CallKind = (typeof callKind)[keyof typeof callKind];

/** The format of the payload of an answer. */
export const answerKind = { error: 0, text: 1, json: 2, blocks: 3, jsonOrText: 4 } as const;

/** Other names, which agents commonly use, for the functions of every server. */
export const functionAliases = [
  ["list_resources", "resources", "list"],
  ["listResources", "resources", "list"],
  ["read_resource", "resources", "read"],
  ["readResource", "resources", "read"],
  ["list_prompts", "prompts", "list"],
  ["listPrompts", "prompts", "list"],
  ["get_prompt", "prompts", "get"],
  ["getPrompt", "prompts", "get"],
] as const;

/** The members of every server beside its tools. A tool with the same name has precedence. */
export const serverMembers: readonly string[] = [
  "resources",
  "prompts",
  "skills",
  ...functionAliases.map(([alias]) => alias),
];

/** The function that takes a text before its other arguments, and the name of the argument that this is. */
export const textFunction = { namespace: "model", name: "ask", argument: "prompt" } as const;

/** The forms of bytes as text that the host converts. */
export type ByteKind = "utf8" | "base64" | "hex";

/** The names of the digests, as in Node. */
export const digestAlgorithms: readonly string[] = ["md5", "sha1", "sha224", "sha256", "sha384", "sha512"];
