/** Parses and checks the text of a config file. Reports all problems at once, each with its position, path and value. */
import { findNodeAtLocation, getNodeValue, type Node, type ParseError, parseTree } from "jsonc-parser";
import type { z } from "zod";
import { misspelling } from "../base/near-names.ts";
import { addressKeys, networkTypeOf } from "./address.ts";
import { credentialsProblem } from "./credentials.ts";
import { pathText, policyKeys } from "./policy.ts";
import { type ConfigProblem, fail, issueText, type PlacedProblem, placed, shorten, syntaxText } from "./problems.ts";
import {
  configSchema,
  foreignKeys,
  knownKeys,
  networkSchema,
  type ServerEntry,
  sourceSchema,
  stdioSchema,
} from "./schema.ts";
import { configReferenceProblem, entryReferenceProblem } from "./secrets/references.ts";
import { type SourceKind, sourceKinds } from "./sources.ts";
import { isToolKey } from "./tools-schema.ts";

export type ParsedConfig = Omit<z.infer<ReturnType<typeof configSchema>>, "mcpServers"> & {
  /** In the order of the file. */
  servers: Map<string, ServerEntry>;
  /** The entries with mistakes, by name. They are left out of `servers`. */
  mistakes: ReadonlyMap<string, EntryMistake>;
};

/** What is wrong with the entry of a server. */
export interface EntryMistake {
  file: string;
  /** In the order of the file, without secrets. */
  problems: readonly PlacedProblem[];
  isDisabled: boolean;
}

/** Stands for an entry without a name. */
const unnamed = "(no name)";

/**
 * Parses JSON with comments and trailing commas. Entries of servers with mistakes are left out. Throws CONFIG_INVALID for every other
 * mistake, with all problems in the order of the file.
 */
export function parseConfig(fileText: string, file: string): ParsedConfig {
  const text = fileText.replace(/^\uFEFF/, "");
  const syntaxErrors: ParseError[] = [];
  const root = parseTree(text, syntaxErrors, { allowTrailingComma: true });
  const [syntaxError] = syntaxErrors;
  if (!root || syntaxError) {
    fail(file, text, [{ offset: syntaxError?.offset ?? 0, text: syntaxText(text, syntaxError) }]);
  }
  const { problems, meant } = oddKeys(root);

  const check = <T>(schema: z.ZodType<T>, node: Node, path: string[]): T | undefined => {
    const { data, error } = schema.safeParse(getNodeValue(node), { error: issueText, jitless: true });
    const seen = new Set<string>();
    for (const issue of error?.issues ?? []) {
      const inside = issue.path.filter((part) => typeof part !== "symbol");
      const found = findNodeAtLocation(node, inside);
      const where = found ?? findNodeAtLocation(node, inside.slice(0, -1)) ?? node;
      const name = pathText([...path, ...inside]);
      // One problem per path is enough. A misspelt key is already reported, so the key that it stands for is not reported as
      // missing.
      if ((!found && meant.has(name)) || seen.has(name)) continue;
      seen.add(name);
      const shown =
        found && !isSecret(inside) ? `, found ${shorten(text.slice(found.offset, found.offset + found.length))}` : "";
      problems.push({
        offset: where.offset,
        text: `${name}: ${issue.message}${shown}`,
        server: serverIn([...path, ...inside]),
      });
    }
    return data;
  };

  const entries = membersOf(findNodeAtLocation(root, ["mcpServers"]));
  const config = check(configSchema(entries.map(({ name }) => name)), root, []);
  const servers = new Map<string, ServerEntry>();
  for (const { name, node } of entries) {
    const path = ["mcpServers", name];
    const say = (problem: ConfigProblem) => problems.push({ ...problem, server: name });
    if (name === "") say({ offset: node.offset, text: `${pathText(path)}: a server needs a name` });
    const { problem, ...way } = wayTo(node);
    const addressKey = way.addressKey ?? addressKeys.find((key) => meant.has(pathText([...path, key])));
    if (problem) say({ ...problem, text: `${pathText([...path, problem.key])}: ${problem.text}` });
    const raw = Object(getNodeValue(node));
    const entry: ServerEntry | undefined =
      way.source !== undefined
        ? check(sourceSchema(way.source, raw), node, path)
        : addressKey === undefined
          ? check(stdioSchema, node, path)
          : check(networkSchema(addressKey, raw), node, path);
    if (!entry) continue;
    servers.set(name, entry);
    const unusable = (config && credentialsProblem(entry, config.auth)) ?? entryReferenceProblem(entry);
    if (unusable) {
      const { offset } = findNodeAtLocation(node, [unusable.key]) ?? node;
      say({ offset, text: `${pathText([...path, unusable.key])}: ${unusable.text}` });
    }
  }
  const misplaced = config && configReferenceProblem(config);
  if (misplaced) {
    const { offset } = findNodeAtLocation(root, misplaced.key.split(".")) ?? root;
    problems.push({ offset, text: `${misplaced.key}: ${misplaced.text}` });
  }
  if (!config || problems.some(({ server }) => server === undefined)) fail(file, text, problems);
  const mistakes = new Map<string, EntryMistake>();
  problems.sort((a, b) => a.offset - b.offset);
  for (const [server = "", own] of Map.groupBy(problems, ({ server }) => server)) {
    const isDisabled = findNodeAtLocation(root, ["mcpServers", server, "disabled"])?.value === true;
    mistakes.set(server || unnamed, { file, problems: placed(own, text), isDisabled });
    servers.delete(server);
  }
  const { mcpServers: _, ...rest } = config;
  return { ...rest, servers, mistakes };
}

/** The server whose entry the path leads into. */
function serverIn([top, name]: readonly (string | number)[]): string | undefined {
  return top === "mcpServers" && name !== undefined ? String(name) : undefined;
}

/** How a server is reached. Without `source` and `addressKey`, it is a program. */
interface Way {
  source?: SourceKind;
  /** The key with the address of a network server. */
  addressKey?: string;
  problem?: ConfigProblem & { key: string };
}

/** If an entry has both a command and an address, `type` decides. */
function wayTo(entry: Node): Way {
  const type: unknown = findNodeAtLocation(entry, ["type"])?.value;
  const source = sourceKinds.find((key) => findNodeAtLocation(entry, [key]));
  if (source !== undefined) {
    const key = ["command", ...addressKeys, ...sourceKinds].find(
      (each) => each !== source && findNodeAtLocation(entry, [each]),
    );
    if (key === undefined) return { source };
    const { offset } = findNodeAtLocation(entry, [key])!;
    return { source, problem: { key, offset, text: `the entry also has "${source}": remove one of them` } };
  }
  const [addressKey, second] = addressKeys.filter((key) => findNodeAtLocation(entry, [key]));
  const hasCommand = findNodeAtLocation(entry, ["command"]) !== undefined;
  const isNetworkType = networkTypeOf(type) !== undefined;
  if (addressKey === undefined) return isNetworkType ? { addressKey: "url" } : {};
  const odd = (key: string, text: string) => {
    const { offset } = findNodeAtLocation(entry, [key])!;
    return { key, offset, text };
  };
  if (type === undefined && hasCommand) {
    return {
      problem: odd(addressKey, 'the entry also has a "command": remove one of them, or choose with "type"'),
    };
  }
  if (type === "stdio" || type === "local" || (hasCommand && !isNetworkType)) return {};
  return {
    addressKey,
    ...(second === undefined ? {} : { problem: odd(second, `"${addressKey}" already gives the address`) }),
  };
}

/**
 * Returns whether a value may contain a secret and must not appear in a problem. The parameter has the first keys of its path
 * within the file or the entry.
 */
function isSecret(path: readonly (string | number)[]): boolean {
  const [key = "", inner = ""] = path;
  const isOfDoor = key === "doors" && path[2] === "tools" && isToolKey(String(path[3]));
  if (key === "tools" || isOfDoor) {
    // Arguments of tools may have fixed values.
    const within = path.slice(isOfDoor ? 4 : 2);
    return within.length !== 1 || within[0] === "arguments";
  }
  if (key === "llm") return ["", "apiKey", "baseUrl", "headers"].includes(String(inner));
  if (key === "approvals" && inner === "notify") return ["", "url", "secret"].includes(String(path[2] ?? ""));
  if (key === "telemetry") return ["", "endpoint", "headers"].includes(String(inner));
  if (key === "registries") return true;
  if (key === "auth" && inner === "oidc")
    return path.length === 2 || ["clientSecret", "introspection", "scim"].includes(String(path[2]));
  // In an entry, it may have the credentials of a source, by names that others chose.
  if (key === "auth" && !["CLIENT_ID", "scopes", "oidc"].includes(String(inner))) return true;
  if (key === "oauth" || key === "auth" || key === "exchange") {
    return inner === "" || /secret|^privateKey$|^sealingKey/i.test(String(inner));
  }
  return ["headers", "headersHelper", "env", "args", "baseUrl", ...addressKeys, ...sourceKinds].includes(String(key));
}

/**
 * Finds duplicate keys, and misspellings of our keys. `meant` has the paths of the keys that were probably meant. Other unknown
 * keys are accepted, because entries are pasted from the files of other agents. They are errors in `policy`, `tools`, `auth`, `llm` and
 * `telemetry`.
 */
function oddKeys(root: Node): { problems: ConfigProblem[]; meant: Set<string> } {
  const problems: ConfigProblem[] = [];
  const meant = new Set<string>();
  const look = (node: Node | undefined, path: string[], known?: string[], noForeign = false) => {
    const seen = new Set<string>();
    for (const { name, offset } of membersOf(node)) {
      const whole = [...path, name];
      const say = (text: string) =>
        problems.push({ offset, text: `${pathText(whole)}: ${text}`, server: serverIn(whole) });
      if (seen.has(name)) say("appears twice");
      seen.add(name);
      // People write comments as keys such as "_args" or "//args".
      if (!known || known.includes(name) || foreignKeys.includes(name) || !/^\p{L}/u.test(name)) continue;
      const near = misspelling(name, known);
      if (near === undefined) {
        if (noForeign) say(`unknown key: expected one of ${known.join(", ")}`);
        continue;
      }
      say(`unknown key, did you mean "${near}"?`);
      meant.add(pathText([...path, near]));
    }
  };
  look(root, [], knownKeys.config);
  look(findNodeAtLocation(root, ["limits"]), ["limits"], knownKeys.limits);
  look(findNodeAtLocation(root, ["executions"]), ["executions"], knownKeys.executions);
  look(findNodeAtLocation(root, ["approvals"]), ["approvals"], knownKeys.approvals);
  look(findNodeAtLocation(root, ["approvals", "notify"]), ["approvals", "notify"], knownKeys.approvalNotice, true);
  look(findNodeAtLocation(root, ["callLog"]), ["callLog"], knownKeys.callLog);
  look(findNodeAtLocation(root, ["sandbox"]), ["sandbox"], knownKeys.sandbox, true);
  look(findNodeAtLocation(root, ["llm"]), ["llm"], knownKeys.llm, true);
  look(findNodeAtLocation(root, ["llm", "headers"]), ["llm", "headers"]);
  look(findNodeAtLocation(root, ["telemetry"]), ["telemetry"], knownKeys.telemetry, true);
  const registries = findNodeAtLocation(root, ["registries"]);
  for (const at of (registries?.type === "array" && registries.children?.keys()) || []) {
    look(findNodeAtLocation(root, ["registries", at]), [`registries[${at}]`], knownKeys.registries, true);
  }
  const policy = findNodeAtLocation(root, ["policy"]);
  look(policy, ["policy"], knownKeys.policy, true);
  look(policy && findNodeAtLocation(policy, ["confirm"]), ["policy", "confirm"]);
  const lookAtTool = (node: Node, path: string[]) => {
    look(node, path, knownKeys.tool, true);
    const args = findNodeAtLocation(node, ["arguments"]);
    look(args, [...path, "arguments"]);
    for (const { name, node: entry } of membersOf(args)) {
      look(entry, [...path, "arguments", name], knownKeys.argument, true);
    }
  };
  const tools = findNodeAtLocation(root, ["tools"]);
  look(tools, ["tools"]);
  for (const { name, node } of membersOf(tools)) lookAtTool(node, ["tools", name]);
  const doors = findNodeAtLocation(root, ["doors"]);
  look(doors, ["doors"]);
  for (const { name, node } of membersOf(doors)) {
    look(node, ["doors", name], knownKeys.door, true);
    const ofDoor = findNodeAtLocation(node, ["tools"]);
    const entries = membersOf(ofDoor).filter((each) => isToolKey(each.name));
    look(ofDoor, ["doors", name, "tools"], [...policyKeys, ...entries.map((each) => each.name)], true);
    for (const each of entries) lookAtTool(each.node, ["doors", name, "tools", each.name]);
    look(findNodeAtLocation(node, ["limits"]), ["doors", name, "limits"], knownKeys.limits, true);
  }
  const auth = findNodeAtLocation(root, ["auth"]);
  look(auth, ["auth"], knownKeys.auth, true);
  const oidc = auth && findNodeAtLocation(auth, ["oidc"]);
  look(oidc, ["auth", "oidc"], knownKeys.oidc, true);
  look(oidc && findNodeAtLocation(oidc, ["doors"]), ["auth", "oidc", "doors"]);
  const introspection = oidc && findNodeAtLocation(oidc, ["introspection"]);
  look(introspection, ["auth", "oidc", "introspection"], knownKeys.introspection, true);
  look(oidc && findNodeAtLocation(oidc, ["scim"]), ["auth", "oidc", "scim"], knownKeys.scim, true);
  const servers = findNodeAtLocation(root, ["mcpServers"]);
  look(servers, ["mcpServers"]);
  for (const { name, node } of membersOf(servers)) {
    look(node, ["mcpServers", name], knownKeys.server);
    look(findNodeAtLocation(node, ["oauth"]), ["mcpServers", name, "oauth"], knownKeys.oauth);
    look(findNodeAtLocation(node, ["sandbox"]), ["mcpServers", name, "sandbox"], knownKeys.sandbox, true);
    look(findNodeAtLocation(node, ["exchange"]), ["mcpServers", name, "exchange"], knownKeys.exchange, true);
    look(findNodeAtLocation(node, ["confirm"]), ["mcpServers", name, "confirm"]);
  }
  return { problems, meant };
}

/** Returns the members of an object in the order of the file, or none for any other value. */
function membersOf(object: Node | undefined): { name: string; node: Node; offset: number }[] {
  return (object?.type === "object" ? (object.children ?? []) : []).flatMap(({ children, offset }) => {
    const [key, node] = children ?? [];
    return key && node ? [{ name: String(key.value), node, offset }] : [];
  });
}
