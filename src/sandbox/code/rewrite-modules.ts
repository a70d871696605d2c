/** Imports and exports → calls of the guest's own loader, since code runs as the body of a function. */
import { posix } from "node:path";
import type {
  ExportAllDeclaration,
  ExportDefaultDeclaration,
  ExportNamedDeclaration,
  Identifier,
  ImportDeclaration,
  ImportExpression,
  Literal,
  MetaProperty,
  Node,
  Program,
} from "acorn";
import { full } from "acorn-walk";
import { boundPaths } from "../ast/bindings.ts";
import type { Edits } from "./edits.ts";

export interface ModuleForm {
  /** The code has `export default`. */
  exportsDefault: boolean;
}

/** Where a specifier is written in: undefined in a program, else the path of the module: `workspace/skills/report.ts`. */
type From = string | undefined;

/** Static and dynamic imports, `import.meta`, and every form of export; exports land in `__exports`. */
export function rewriteModules(program: Program, code: string, edits: Edits, from: From): ModuleForm {
  let exportsDefault = false;
  for (const node of program.body) {
    if (node.type === "ImportDeclaration") edits.replace(node, importText(node, from));
    else if (node.type === "ExportAllDeclaration") edits.replace(node, exportAllText(node, from));
    else if (node.type === "ExportNamedDeclaration") {
      exportsDefault ||= node.specifiers.some(({ exported }) => nameOf(exported) === "default");
      rewriteNamed(node, edits, from);
    } else if (node.type === "ExportDefaultDeclaration") {
      exportsDefault = true;
      rewriteDefault(node, code, edits);
    }
  }
  full(program, (node: Node) => {
    if (node.type === "ImportExpression") {
      const { start, source } = node as ImportExpression;
      edits.replace({ start, end: start + "import".length }, "__import");
      if (source.type === "Literal" && from !== undefined) edits.replace(source, stringOf(source, from));
    } else if (node.type === "MetaProperty" && (node as MetaProperty).meta.name === "import") {
      // What is imported is never the main module.
      edits.replace(node, from === undefined ? "__meta" : `({ ...__meta, main: false, url: "file:///${from}" })`);
    }
  });
  return { exportsDefault };
}

function importText(node: ImportDeclaration, place: From): string {
  const from = stringOf(node.source, place);
  const members: string[] = [];
  const names: string[] = [];
  let namespace: string | undefined;
  for (const specifier of node.specifiers) {
    const local = specifier.local.name;
    if (specifier.type === "ImportNamespaceSpecifier") namespace = local;
    else {
      const imported = specifier.type === "ImportDefaultSpecifier" ? "default" : nameOf(specifier.imported);
      members.push(`${JSON.stringify(imported)}: ${local}`);
      names.push(imported);
    }
  }
  const load = `await __import(${from}, ${JSON.stringify(names)})`;
  if (namespace !== undefined && members.length === 0) return `const ${namespace} = ${load};`;
  if (namespace !== undefined) return `const ${namespace} = ${load}, { ${members.join(", ")} } = ${namespace};`;
  return members.length > 0 ? `const { ${members.join(", ")} } = ${load};` : `${load};`;
}

function exportAllText({ source, exported }: ExportAllDeclaration, from: From): string {
  const load = `await __import(${stringOf(source, from)})`;
  if (exported) return `__exports[${JSON.stringify(nameOf(exported))}] = ${load};`;
  return `{ const { default: _, ...all } = ${load}; Object.assign(__exports, all); }`;
}

/** Exported names are asked for when they are used: an enum gets its value after it was declared, a `let` another one. */
function exportText(exported: string, local: string): string {
  return `;Object.defineProperty(__exports, ${JSON.stringify(exported)}, { enumerable: true, configurable: true, get: () => ${local} });`;
}

function rewriteNamed(node: ExportNamedDeclaration, edits: Edits, place: From): void {
  const { declaration, source, specifiers } = node;
  if (declaration) {
    const names =
      declaration.type === "VariableDeclaration"
        ? declaration.declarations.flatMap(({ id }) => boundPaths(id).map(({ name }) => name))
        : [declaration.id.name];
    edits.replace({ start: node.start, end: declaration.start }, "");
    edits.insert(node.end, names.map((name) => exportText(name, name)).join(""));
    return;
  }
  const text = specifiers
    .map(({ local, exported }) =>
      exportText(nameOf(exported), source ? `__from[${JSON.stringify(nameOf(local))}]` : nameOf(local)),
    )
    .join("");
  edits.replace(node, source ? `{ const __from = await __import(${stringOf(source, place)}); ${text} }` : text);
}

function rewriteDefault({ start, end, declaration }: ExportDefaultDeclaration, code: string, edits: Edits): void {
  const named =
    (declaration.type === "FunctionDeclaration" || declaration.type === "ClassDeclaration") && declaration.id?.name;
  if (named) {
    edits.replace({ start, end: declaration.start }, "");
    edits.insert(end, `;__exports.default = ${named};`);
    return;
  }
  edits.replace({ start, end: declaration.start }, "__exports.default = ");
  if (code[end - 1] !== ";") edits.insert(end, ";");
}

function nameOf(node: Identifier | Literal): string {
  return node.type === "Identifier" ? node.name : String(node.value);
}

/** What a module calls `./other` is its neighbour; in skills `./servers/…`, `./skills/…` and such are what they are in programs. */
function stringOf({ value }: Literal, from: From): string {
  const specifier = String(value);
  const isSkill = from?.startsWith("workspace/");
  const shared = isSkill && /^(?:\.{1,2}\/)+(?:servers|skills|workspace|registry)(?:\/|$)/.test(specifier);
  if (from === undefined || shared || !/^\.{1,2}(?:\/|$)/.test(specifier)) return JSON.stringify(value);
  return JSON.stringify(`./${posix.join(posix.dirname(from), specifier)}`);
}
