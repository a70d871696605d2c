/** The names that a program declares itself, and those that it imports from servers. */
import type { Node, Pattern, Program } from "acorn";
import { full } from "acorn-walk";

/** Every name that is bound anywhere in the program, imports left out. */
export function declaredNames(program: Program): Set<string> {
  const names = new Set<string>();
  const add = (pattern: Pattern | null | undefined) => {
    for (const name of boundNames(pattern)) names.add(name);
  };
  full(program, (node: Node) => {
    const { type, id, params, param } = node as Node & {
      id?: Pattern | null;
      params?: Pattern[];
      param?: Pattern | null;
    };
    if (type === "VariableDeclarator" || type.startsWith("Function") || type.startsWith("Class")) add(id);
    for (const parameter of params ?? []) add(parameter);
    if (type === "CatchClause") add(param);
  });
  return names;
}

/** Names imported from `./servers/<server>`: local name → server and the name there. */
export function importedNames(program: Program): Map<string, { server: string; name: string }> {
  const imported = new Map<string, { server: string; name: string }>();
  for (const node of program.body) {
    if (node.type !== "ImportDeclaration") continue;
    const server = /^(?:\.{0,2}\/|@\/)*servers\/([^/]+?)(?:\/index)?(?:\.[cm]?[jt]s)?$/.exec(
      String(node.source.value),
    )?.[1];
    for (const specifier of server === undefined ? [] : node.specifiers) {
      if (specifier.type !== "ImportSpecifier" || specifier.imported.type !== "Identifier") continue;
      const { name } = specifier.imported;
      if (name !== server) imported.set(specifier.local.name, { server: String(server), name });
    }
  }
  return imported;
}

/** The names that a pattern binds. */
export function boundNames(pattern: Pattern | null | undefined): string[] {
  switch (pattern?.type) {
    case "Identifier":
      return [pattern.name];
    case "ObjectPattern":
      return pattern.properties.flatMap((property) =>
        boundNames(property.type === "RestElement" ? property.argument : property.value),
      );
    case "ArrayPattern":
      return pattern.elements.flatMap(boundNames);
    case "RestElement":
      return boundNames(pattern.argument);
    case "AssignmentPattern":
      return boundNames(pattern.left);
    default:
      return [];
  }
}
