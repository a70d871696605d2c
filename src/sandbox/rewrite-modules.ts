/** Imports and exports → calls of the guest's own loader, since code runs as the body of a function. */
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
import { boundNames } from "./declared-names.ts";
import type { Edits } from "./edits.ts";

export interface ModuleForm {
  /** The code has `export default`. */
  exportsDefault: boolean;
}

/** Static and dynamic imports, `import.meta`, and every form of export; exports land in `__exports`. */
export function rewriteModules(program: Program, code: string, edits: Edits): ModuleForm {
  let exportsDefault = false;
  for (const node of program.body) {
    if (node.type === "ImportDeclaration") edits.replace(node, importText(node));
    else if (node.type === "ExportAllDeclaration") edits.replace(node, exportAllText(node));
    else if (node.type === "ExportNamedDeclaration") rewriteNamed(node, edits);
    else if (node.type === "ExportDefaultDeclaration") {
      exportsDefault = true;
      rewriteDefault(node, code, edits);
    }
  }
  full(program, (node: Node) => {
    if (node.type === "ImportExpression") {
      const { start } = node as ImportExpression;
      edits.replace({ start, end: start + "import".length }, "__import");
    } else if (node.type === "MetaProperty" && (node as MetaProperty).meta.name === "import") {
      edits.replace(node, "__meta");
    }
  });
  return { exportsDefault };
}

function importText(node: ImportDeclaration): string {
  const from = stringOf(node.source);
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

function exportAllText({ source, exported }: ExportAllDeclaration): string {
  const load = `await __import(${stringOf(source)})`;
  return exported ? `__exports[${JSON.stringify(nameOf(exported))}] = ${load};` : `Object.assign(__exports, ${load});`;
}

function rewriteNamed(node: ExportNamedDeclaration, edits: Edits): void {
  const { declaration, source, specifiers } = node;
  if (declaration) {
    const names =
      declaration.type === "VariableDeclaration"
        ? declaration.declarations.flatMap(({ id }) => boundNames(id))
        : [declaration.id.name];
    edits.replace({ start: node.start, end: declaration.start }, "");
    edits.insert(node.end, names.map((name) => `;__exports[${JSON.stringify(name)}] = ${name};`).join(""));
    return;
  }
  const from = source ? "__from" : undefined;
  const assignments = specifiers.map(({ local, exported }) => {
    const value = from ? `${from}[${JSON.stringify(nameOf(local))}]` : nameOf(local);
    return `__exports[${JSON.stringify(nameOf(exported))}] = ${value};`;
  });
  const text = assignments.join(" ");
  edits.replace(node, source ? `{ const __from = await __import(${stringOf(source)}); ${text} }` : text);
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

function stringOf(literal: Literal): string {
  return JSON.stringify(literal.value);
}
