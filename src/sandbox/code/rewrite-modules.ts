/** Turns imports and exports into calls of the guest's loader, because code runs as the body of a function. */
import { posix } from "node:path";
import type {
  ExportAllDeclaration,
  ExportDefaultDeclaration,
  ExportNamedDeclaration,
  Identifier,
  ImportDeclaration,
  Literal,
} from "acorn";
import { boundPaths, type Tree } from "../ast/tree.ts";
import type { Edits } from "./edits.ts";

/**
 * The file that a specifier is written in: undefined for a program, else a module such as
 * `workspace/skills/report.ts`.
 */
type From = string | undefined;

/**
 * Rewrites static and dynamic imports, `import.meta`, and every form of export. Exports become properties of
 * `__exports`. Returns whether the code has `export default`.
 */
export function rewriteModules(tree: Tree, edits: Edits, from: From): boolean {
  let exportsDefault = false;
  for (const node of tree.program.body) {
    if (node.type === "ImportDeclaration") edits.replace(node, importText(node, from));
    else if (node.type === "ExportAllDeclaration") edits.replace(node, exportAllText(node, from));
    else if (node.type === "ExportNamedDeclaration") {
      exportsDefault ||= node.specifiers.some(({ exported }) => nameOf(exported) === "default");
      rewriteNamed(node, edits, from);
    } else if (node.type === "ExportDefaultDeclaration") {
      exportsDefault = true;
      rewriteDefault(node, tree.code, edits);
    }
  }
  for (const { start, source } of tree.all("ImportExpression")) {
    edits.replace({ start, end: start + "import".length }, "__import");
    if (source.type === "Literal" && from !== undefined) edits.replace(source, stringOf(source, from));
  }
  for (const node of tree.all("MetaProperty")) {
    if (node.meta.name !== "import") continue;
    // An imported module is never the main module.
    edits.replace(node, from === undefined ? "__meta" : `({ ...__meta, main: false, url: "file:///${from}" })`);
  }
  return exportsDefault;
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

/** Exports are getters: an enum gets its value after its declaration, and a `let` may change. */
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

/**
 * `./other` in a module is a file beside it. In skills, `./servers/…`, `./skills/…` and the like mean the same as in
 * programs.
 */
function stringOf({ value }: Literal, from: From): string {
  const specifier = String(value);
  const isSkill = from?.startsWith("workspace/");
  const shared = isSkill && /^(?:\.{1,2}\/)+(?:servers|skills|workspace|registry)(?:\/|$)/.test(specifier);
  if (from === undefined || shared || !/^\.{1,2}(?:\/|$)/.test(specifier)) return JSON.stringify(value);
  return JSON.stringify(`./${posix.join(posix.dirname(from), specifier)}`);
}
