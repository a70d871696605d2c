/** Text of a config file → checked value, or every problem in it at once, each with its place, path and value. */
import { findNodeAtLocation, type Node, type ParseError, parseTree, printParseErrorCode } from "jsonc-parser";
import type { z } from "zod";
import { ClaudikinsError } from "../errors.ts";
import { nearNames } from "../near-names.ts";
import { configSchema, knownKeys } from "./schema.ts";

export type ParsedConfig = z.infer<typeof configSchema>;

/** Comments and trailing commas are allowed. Throws CONFIG_INVALID naming all problems, in the order of the file. */
export function parseConfig(text: string, file: string): ParsedConfig {
  const syntaxErrors: ParseError[] = [];
  const root = parseTree(text, syntaxErrors, { allowTrailingComma: true });
  if (syntaxErrors.length > 0 || !root) {
    const at = syntaxErrors[0]?.offset ?? 0;
    fail(file, [{ offset: at, text: `not valid JSON: ${wordsOf(syntaxErrors[0])}` }], text);
  }
  const value = plainValue(root);
  const problems = misspeltKeys(root);
  const checked = configSchema.safeParse(value);
  for (const issue of checked.error?.issues ?? []) {
    const path = issue.path.filter((part) => typeof part !== "symbol");
    const node = findNodeAtLocation(root, path) ?? findNodeAtLocation(root, path.slice(0, -1)) ?? root;
    const found = findNodeAtLocation(root, path);
    const shown = found ? `, found ${shorten(text.slice(found.offset, found.offset + found.length))}` : "";
    problems.push({ offset: node.offset, text: `${pathText(path)}: ${issue.message}${shown}` });
  }
  if (problems.length > 0) fail(file, problems, text);
  return checked.data as ParsedConfig;
}

interface Problem {
  offset: number;
  text: string;
}

function fail(file: string, problems: Problem[], text: string): never {
  const lines = problems
    .sort((a, b) => a.offset - b.offset)
    .map((problem) => `  ${file}:${position(text, problem.offset)}  ${problem.text}`);
  const count = lines.length === 1 ? "a problem" : `${lines.length} problems`;
  throw new ClaudikinsError("CONFIG_INVALID", `The config has ${count}:\n${lines.join("\n")}`, {
    hint: "Correct the file and run the command again. Nothing was started.",
  });
}

/** Keys that are not ours but nearly: foreign keys are left alone, since files of other hosts get pasted in. */
function misspeltKeys(root: Node): Problem[] {
  const problems: Problem[] = [];
  const look = (node: Node | undefined, path: string[], known: string[]) => {
    for (const property of node?.type === "object" ? (node.children ?? []) : []) {
      const [key] = property.children ?? [];
      const name = String(key?.value);
      if (known.includes(name)) continue;
      const [near] = nearNames(name, known, 1);
      if (near && !(node && findNodeAtLocation(node, [near]))) {
        problems.push({
          offset: property.offset,
          text: `${pathText([...path, name])}: unknown key, did you mean "${near}"?`,
        });
      }
    }
  };
  look(root, [], knownKeys.config);
  look(findNodeAtLocation(root, ["limits"]), ["limits"], knownKeys.limits);
  const servers = findNodeAtLocation(root, ["mcpServers"]);
  for (const property of servers?.type === "object" ? (servers.children ?? []) : []) {
    const [key, entry] = property.children ?? [];
    look(entry, ["mcpServers", String(key?.value)], knownKeys.server);
  }
  return problems;
}

/** A plain value, its objects without a prototype, so that a key `__proto__` is a key like any other. */
function plainValue(node: Node): unknown {
  if (node.type === "array") return (node.children ?? []).map(plainValue);
  if (node.type !== "object") return node.value;
  const object: Record<string, unknown> = Object.create(null);
  for (const property of node.children ?? []) {
    const [key, child] = property.children ?? [];
    if (key && child) object[String(key.value)] = plainValue(child);
  }
  return object;
}

function wordsOf(error: ParseError | undefined): string {
  if (!error) return "the file is empty";
  const name = printParseErrorCode(error.error);
  return name
    .replace(/([a-z])([A-Z])/g, (_, before: string, after: string) => `${before} ${after.toLowerCase()}`)
    .toLowerCase();
}

function pathText(path: readonly (string | number)[]): string {
  const text = path.map((part) =>
    typeof part === "number" ? `[${part}]` : /^[A-Za-z_$][\w$]*$/.test(part) ? `.${part}` : `[${JSON.stringify(part)}]`,
  );
  return text.join("").replace(/^\./, "") || "the file";
}

function position(text: string, offset: number): string {
  const before = text.slice(0, offset).split("\n");
  return `${before.length}:${(before.at(-1)?.length ?? 0) + 1}`;
}

function shorten(source: string): string {
  const line = source.replace(/\s+/g, " ");
  return line.length > 60 ? `${line.slice(0, 57)}...` : line;
}
