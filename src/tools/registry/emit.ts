/** Makes the generated files of one server as text. The same tools give the same text. */

import type { RegistryServer, RegistryTool } from "../model.ts";
import { assignFileNames, functionName } from "../names.ts";
import { sampleArguments } from "../sample.ts";
import { effectsOf, exampleCall, firstSentence, needsNoArguments, signature } from "../signature.ts";
import { type DeclaredTypes, declaredTypes, typeNames } from "../tool-types.ts";
import { freeName } from "../types/declarations.ts";
import { comment } from "../types/documentation.ts";
import { keyText } from "../types/printer.ts";
import { generatedMark } from "./generated-mark.ts";
import { serverGlobal, serverGlobalName, serverModule, serverModuleName } from "./globals/server-global.ts";

export interface EmittedFile {
  /** The path below the server's folder. */
  name: string;
  text: string;
}

export function isGenerated(text: string): boolean {
  return text.replace(anyProgramLines, "").startsWith(generatedMark);
}

/** Whether a generated file is an executable program. */
export function isProgramText(text: string): boolean {
  return text.startsWith("#!");
}

/** All generated files of a server: the modules of its tools, and its declarations for programs. */
export function filesOfServer(server: RegistryServer): EmittedFile[] {
  // Two files of each tool have its types.
  const types = new Map(server.tools.map((tool) => [tool, declaredTypes(tool)]));
  const typesOf = (tool: RegistryTool) => types.get(tool)!;
  return [
    ...emitServer(server, typesOf),
    { name: serverGlobalName, text: serverGlobal(server, typesOf) },
    { name: serverModuleName, text: serverModule(server) },
  ];
}

/** One file for each tool; `index.ts` exports all tools, `client.ts` has them as one object, and `example.ts` calls one. */
export function emitServer(server: RegistryServer, typesOf = declaredTypes): EmittedFile[] {
  const files = assignFileNames(server.tools.map((tool) => tool.name));
  const all = server.tools.map((tool) => ({ tool, path: `./${files.get(tool.name)}.ts` }));
  return [
    { name: "index.ts", text: emitIndex(server, all) },
    ...(all.length > 0
      ? [
          { name: "client.ts", text: emitClient(server, all) },
          { name: "example.ts", text: emitExample(server) },
        ]
      : []),
    ...all.map(({ tool, path }) => ({ name: path.slice(2), text: emitTool(server, tool, typesOf(tool)) })),
  ];
}

interface ToolFile {
  tool: RegistryTool;
  path: string;
}

function emitTool(server: RegistryServer, tool: RegistryTool, types: DeclaredTypes): string {
  const { inputSchema, description } = tool;
  const call = functionName(tool.name);
  const { args, result } = typeNames(tool);
  const optional = needsNoArguments(inputSchema);
  const summary = firstSentence(description, 200);
  return programFile(
    importLine("call, program", "../../_runtime/bridge.ts"),
    `export const tool = {
  name: ${json(tool.name)},
  server: ${json(server.name)},
  category: ${json(server.category)},
  description: ${json(description)},
  inputSchema: ${json(inputSchema)},
};`,
    `export const example = ${json(exampleCall(server, tool))};`,
    `export const notes = ${json(notesOf(server, tool))};`,
    types.args,
    types.result,
    `${comment(summary, "")}export function ${call}(args: ${args}${optional ? " = {}" : ""}): Promise<${result}> {
  return call(tool.server, tool.name, args);
}`,
    "program(import.meta, tool);",
  );
}

/** If two tools have the same name, only the first is exported. The other is imported from its own file. */
function emitIndex(server: RegistryServer, all: ToolFile[]): string {
  const taken = new Set(["server", "client"]);
  const exports = all.flatMap(({ tool, path }) => {
    const { args, result } = typeNames(tool);
    const names = [functionName(tool.name), args, result];
    if (names.some((name) => taken.has(name))) return [];
    for (const name of names) taken.add(name);
    return [exportLine(`${names[0]}, type ${args}, type ${result}`, path)];
  });
  const about = {
    name: server.name,
    description: server.description,
    category: server.category,
    tools: server.tools.map((tool) => tool.name),
  };
  return file(
    `export const server = ${json(about, 2)};`,
    [...(all.length > 0 ? [exportLine("client", "./client.ts")] : []), ...exports].join("\n"),
  );
}

function emitClient(server: RegistryServer, all: ToolFile[]): string {
  const taken = new Set(["client"]);
  const tools = all.map(({ tool, path }) => {
    const name = functionName(tool.name);
    const local = freeName(name, taken);
    const key = keyText(tool.jsName ?? tool.name);
    return {
      imported: importLine(name === local ? name : `${name} as ${local}`, path),
      member: key === local ? key : `${key === "__proto__" ? '["__proto__"]' : key}: ${local}`,
    };
  });
  return file(
    tools.map(({ imported }) => imported).join("\n"),
    `${comment(`The tools of ${server.name} as functions.`, "")}export const client = {
${tools.map(({ member }) => `  ${member},\n`).join("")}};`,
  );
}

/** A program that calls one tool, a read-only one if possible. */
function emitExample(server: RegistryServer): string {
  const byHarm = (tool: RegistryTool) => (tool.annotations?.["readOnlyHint"] === true ? 0 : 1);
  const [tool] = server.tools.toSorted((a, b) => byHarm(a) - byHarm(b));
  const key = keyText(tool!.jsName ?? tool!.name);
  return programFile(
    importLine("client", "./client.ts"),
    `${comment("Replace the made-up arguments, then run this file directly, or with bun or node (22.18 or newer).", "")}const result = await client${key.startsWith('"') ? `[${key}]` : `.${key}`}(${sampleArguments(tool!.inputSchema).text});
console.log(result);`,
  );
}

/** The signature, and the server's claims about the tool's effects, which the schema does not have. */
function notesOf(server: RegistryServer, tool: RegistryTool): string {
  return [signature(server, tool), effectsOf(tool)].filter(Boolean).join(" ");
}

function importLine(names: string, path: string): string {
  return `import { ${names} } from ${json(path)};`;
}

function exportLine(names: string, path: string): string {
  return `export { ${names} } from ${json(path)};`;
}

function programFile(...statements: string[]): string {
  return `${programLines}${file(...statements)}`;
}

function file(...statements: string[]): string {
  return `${[generatedMark, ...statements].filter((text) => text !== "").join("\n\n")}\n`;
}

/** JSON as a TypeScript expression. The key `__proto__` is computed, because it would set the prototype. */
function json(value: unknown, indent?: number): string {
  return JSON.stringify(value, null, indent).replace(/([{,]\s*)"__proto__":/g, '$1["__proto__"]:');
}

const command = [
  "for name in bun node claudikins; do",
  "at=$(command -v $name);",
  "case $at in /*) ;; *) continue ;; esac;",
  "case $name in node)",
  'case $("$at" --version) in',
  // The loop tries Bun first and claudikins last.
  "v[0-9].*|v1?.*|v2[01].*|v22.[0-5].*) old=$at; continue ;;",
  "v22.[6-9].*|v22.1[0-7].*|v23.[0-5].*)",
  'exec "$at" --experimental-strip-types --disable-warning=ExperimentalWarning "$0" "$@" ;;',
  '*) exec "$at" "$0" "$@" ;; esac ;;',
  "claudikins) export BUN_BE_BUN=1 ;; esac;",
  'exec "$at" --config=/dev/null --env-file=/dev/null --tsconfig-override=/dev/null "$0" "$@";',
  "done;",
  'echo "To run $0, install Bun, Node.js 22.18 or claudikins, and put it on the PATH.${old:+ $old is too old.}" >&2;',
  "exit 127",
].join(" ");

export const programLines = `#!/bin/sh\n":" //; ${command}\n`;

/** Matches the program lines of any version of claudikins. */
const anyProgramLines = /^(?:#!.*\n(?:":" \/\/;.*\n)?)?/;
