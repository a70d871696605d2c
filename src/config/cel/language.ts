/** Reads expressions of CEL: the library parses them and checks their types, and the tree that it has parsed is what is evaluated. */
import { type ASTNode, Environment } from "@marcbachmann/cel-js";
import { compiled, type Expression } from "./compile.ts";

/** Parts of the condition of a rule. */
const maxConditionParts = 500;

/** The types of variables, by name. A type is the name of one in CEL, or the fields of an object. */
export type Variables = Readonly<Record<string, string | Readonly<Record<string, string>>>>;

export interface ReadExpression {
  tree: ASTNode;
  /** The name of its type, as far as it is known: `dyn` if it is not. */
  type: string;
  evaluate: Expression;
}

/** Returns a reader for expressions with these variables. It throws an error whose first line says what is wrong with the expression. */
export function languageOf(variables: Variables): (text: string) => ReadExpression {
  const environment = new Environment({
    homogeneousAggregateLiterals: false,
    limits: {
      maxAstNodes: maxConditionParts,
      maxDepth: 64,
      maxListElements: 1_000,
      maxMapEntries: 100,
      maxCallArguments: 16,
    },
  });
  for (const [name, type] of Object.entries(variables)) {
    if (typeof type === "string") environment.registerVariable(name, type);
    else environment.registerVariable(name, { schema: type });
  }
  const names = new Set(Object.keys(variables));
  return (text) => {
    const { ast: tree, check } = environment.parse(text);
    const { valid, type = "dyn", error } = check();
    if (!valid) throw error ?? new Error("it has a mistake");
    return { tree, type, evaluate: compiled(tree, names) };
  };
}
