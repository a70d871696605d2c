/**
 * Declares one server as programs see it. The file is a module, so that the names of the tools' types cannot collide with others. It adds
 * the server to the global scope.
 */
import { serverMembers } from "../../../sandbox/guest/kinds.ts";
import { askDeclarations, asksModel, askType } from "../../asks-model.ts";
import type { RegistryServer, RegistryTool } from "../../model.ts";
import { assignFileNames, isIdentifier, isKeyword } from "../../names.ts";
import { firstSentence, needsNoArguments } from "../../signature.ts";
import { type DeclaredTypes, declaredTypes, typeNames } from "../../tool-types.ts";
import { typeName } from "../../types/declarations.ts";
import { comment } from "../../types/documentation.ts";
import { keyText } from "../../types/printer.ts";
import { generatedMark } from "../generated-mark.ts";

/** Has a dash, so it is the file name of no tool. */
export const serverGlobalName = "server-global.d.ts";

export function serverGlobal(server: RegistryServer, typesOf: (tool: RegistryTool) => DeclaredTypes): string {
  const files = assignFileNames(server.tools.map(({ name }) => name));
  const type = `${typeName(server.name)}Server`;
  const texts = [
    generatedMark,
    `/// <reference path="../../globals.d.ts" />\n/// <reference path="./${serverModuleName}" />`,
    "export {};",
    ...server.tools.map((tool) => toolBlock(typesOf(tool), blockName(tool, files))),
    ...(server.tools.some((tool) => asksModel(server.name, tool)) ? [askDeclarations] : []),
    serverInterface(server, type, files),
    `declare global {\n${globalName(server, type)}  namespace Claudikins {\n    interface Servers {\n${servers(server, type)}    }\n  }\n}`,
  ];
  return `${texts.join("\n\n")}\n`;
}

/** The text with the types of these tools written again. Tools that it does not have are left out. `files` are the names of their files. */
export function withToolsAgain(
  text: string,
  tools: readonly RegistryTool[],
  files: ReadonlyMap<string, string>,
): string {
  return tools.reduce((before, tool) => {
    const block = blockName(tool, files);
    const start = before.indexOf(`\n${blockStart(block)}\n`);
    const last = `\n${blockEnd(block)}\n`;
    const end = before.indexOf(last, start);
    if (start === -1 || end === -1) return before;
    return `${before.slice(0, start + 1)}${toolBlock(declaredTypes(tool), block)}${before.slice(end + last.length - 1)}`;
  }, text);
}

/** The namespace of a tool's types. No other tool of the server has it. */
function blockName({ name }: RegistryTool, files: ReadonlyMap<string, string>): string {
  return `_${files.get(name)}`;
}

const blockStart = (name: string) => `declare namespace ${name} {`;
const blockEnd = (name: string) => `} // ${name}`;

function toolBlock({ args, result }: DeclaredTypes, block: string): string {
  return [blockStart(block), args, usable(result), blockEnd(block)].join("\n");
}

/** Comments and texts, or the type `unknown`, which is not the name of a member. */
const unknownTypes = /\/\*[\s\S]*?\*\/|"(?:\\.|[^"\\])*"|`(?:\\.|[^`\\])*`|\bunknown\b(?!\??:)/g;

/** Unknown parts of results become `any`: with `unknown`, every program would need casts. */
function usable(declaration: string): string {
  return declaration.replace(unknownTypes, (found) => (found === "unknown" ? "any" : found));
}

function serverInterface(server: RegistryServer, type: string, files: ReadonlyMap<string, string>): string {
  const names = codeNames(server.tools);
  const hidden = serverMembers.filter((name) => names.has(name)).map((name) => JSON.stringify(name));
  const base = hidden.length === 0 ? "Claudikins.Functions" : `Omit<Claudikins.Functions, ${hidden.join(" | ")}>`;
  const members = [...names].map(([name, tool]) => {
    if (name !== (tool.jsName ?? tool.name)) return `  ${keyText(name)}: ${type}[${JSON.stringify(tool.jsName)}];\n`;
    const block = blockName(tool, files);
    const { args, result } = typeNames(tool);
    const optional = needsNoArguments(tool.inputSchema) ? "?" : "";
    const plain = `Claudikins.Tool<[args${optional}: ${block}.${args}], ${block}.${result}>`;
    const call = asksModel(server.name, tool) ? askType : plain;
    return `${comment(firstSentence(tool.description, 200), "  ")}  ${keyText(name)}: ${call};\n`;
  });
  const about = comment(firstSentence(server.description, 200), "");
  return `${about}interface ${type} extends ${base} {\n${members.join("")}}`;
}

/**
 * The server as a global. TypeScript's browser types also declare some of the names. If a program uses these types, such a variable stays
 * the browser's, and such a function gets the tools as members.
 */
function globalName(server: RegistryServer, type: string): string {
  const { jsName } = server;
  if (jsName === undefined || notDeclarable.has(jsName)) return "";
  if (browserFunctions.has(jsName)) return namespace(server, jsName, type);
  const own = browserVariables.has(jsName)
    ? `typeof globalThis extends { onmessage: any; ${jsName}: infer Known } ? Known : ${type}`
    : type;
  return `  var ${jsName}: ${own};\n`;
}

function namespace({ tools }: RegistryServer, jsName: string, type: string): string {
  const lines = variableNames(tools).map((name) => `    export const ${name}: ${type}["${name}"];\n`);
  return `  namespace ${jsName} {\n${lines.join("")}  }\n`;
}

function servers({ name, jsName }: RegistryServer, type: string): string {
  const names = new Set([name, ...(jsName === undefined ? [] : [jsName])]);
  return [...names].map((each) => `      ${keyText(each)}: ${type};\n`).join("");
}

/** The names that TypeScript's types of browsers declare, as far as servers may have them. A test compares them with these types. */
function words(text: string): ReadonlySet<string> {
  return new Set(text.split(" "));
}

/** A namespace may have the name of a function. */
export const browserFunctions = words(
  "addEventListener alert blur cancelAnimationFrame cancelIdleCallback captureEvents close confirm createImageBitmap dispatchEvent " +
    "fetch focus getComputedStyle getSelection matchMedia moveBy moveTo open postMessage print prompt releaseEvents " +
    "removeEventListener reportError requestAnimationFrame requestIdleCallback resizeBy resizeTo scroll scrollBy scrollTo stop toString",
);

/** Variables, and classes whose name is one word. */
export const browserVariables = words(
  "caches clientInformation closed cookieStore crossOriginIsolated customElements devicePixelRatio document event external " +
    "frameElement frames history indexedDB innerHeight innerWidth isSecureContext length localStorage location locationbar menubar " +
    "navigation navigator opener orientation origin originAgentCluster outerHeight outerWidth pageXOffset pageYOffset parent " +
    "personalbar scheduler screen screenLeft screenTop screenX screenY scrollX scrollY scrollbars sessionStorage speechSynthesis status " +
    "statusbar toolbar top visualViewport webkitURL window Animation Attr Audio Blob Cache Clipboard Comment Credential Crypto " +
    "Document Element External File GPU Gamepad Geolocation Headers Highlight History Image Location Lock Navigation Navigator Node " +
    "Notification Option Performance Permissions Plugin Range Request Response Sanitizer Scheduler Screen Selection Storage Text Touch " +
    "Window Worker Worklet",
);

/** Constants, which nothing else may declare. */
export const notDeclarable = words("name");

/** Has a dash, so it is the file name of no tool. */
export const serverModuleName = "server-module.d.ts";

/** The tools by the names that they have in code: the JS name, and the original one. */
function codeNames(tools: readonly RegistryTool[]): Map<string, RegistryTool> {
  const byJsName = tools.flatMap((tool) => (tool.jsName === undefined ? [] : [[tool.jsName, tool] as const]));
  const names = new Map(byJsName);
  for (const tool of tools) if (!names.has(tool.name)) names.set(tool.name, tool);
  return names;
}

/** The names in code that variables may have. */
function variableNames(tools: readonly RegistryTool[]): string[] {
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
