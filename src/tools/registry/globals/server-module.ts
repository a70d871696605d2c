/** Declares one server as a module that programs import: `import { list_orders } from "./servers/demo"`. */

import { serverMembers } from "../../../sandbox/guest/kinds.ts";
import type { RegistryServer, RegistryTool } from "../../model.ts";
import { isIdentifier, isKeyword } from "../../names.ts";
import { generatedMark } from "../generated-mark.ts";

/** Has a dash, so it is the file name of no tool. */
export const serverModuleName = "server-module.d.ts";

/** The tools by the names that they have in code: the JS name, and the original one. */
export function codeNames(tools: readonly RegistryTool[]): Map<string, RegistryTool> {
  const byJsName = tools.flatMap((tool) => (tool.jsName === undefined ? [] : [[tool.jsName, tool] as const]));
  const names = new Map(byJsName);
  for (const tool of tools) if (!names.has(tool.name)) names.set(tool.name, tool);
  return names;
}

/** The names in code that variables may have. */
export function variableNames(tools: readonly RegistryTool[]): string[] {
  const names = new Set([...codeNames(tools).keys(), ...serverMembers]);
  return [...names].filter((name) => isIdentifier(name) && !isKeyword(name));
}

/**
 * The specifiers are patterns, because only these may stand for a path that begins with a dot. A pattern has one star, so a server with a
 * star in its name is left out.
 */
export function serverModule({ name, jsName, tools }: RegistryServer): string {
  const type = `Claudikins.Servers[${JSON.stringify(name)}]`;
  const names = variableNames(tools);
  const members = names.map((each) => `  export const ${each}: ${type}["${each}"];\n`).join("");
  const own = freeOf(names, "server");
  const paths = [...new Set([name, jsName ?? name])].filter((path) => !path.includes("*"));
  const modules = paths.map((path) => {
    const isFree = isIdentifier(path) && !names.includes(path) && path !== own;
    const byName = isFree ? `  export { ${own} as ${path} };\n` : "";
    return moduleText(`*/servers/${path}`, `  const ${own}: ${type};\n  export default ${own};\n${byName}${members}`);
  });
  const all = jsName === undefined || isKeyword(jsName) ? "" : `  export const ${jsName}: ${type};\n`;
  return `${[generatedMark, ...modules, ...(all ? [moduleText("*/servers", all)] : [])].join("\n\n")}\n`;
}

function moduleText(pattern: string, body: string): string {
  return `declare module ${JSON.stringify(pattern)} {\n${body}}`;
}

function freeOf(names: readonly string[], wanted: string): string {
  return names.includes(wanted) ? freeOf(names, `_${wanted}`) : wanted;
}
