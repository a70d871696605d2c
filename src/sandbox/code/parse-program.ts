/** Parses JavaScript as it is run: the body of a function that may have imports and exports. */
import { type BinaryExpression, type Node, Parser, type Program } from "acorn";
import { full } from "acorn-walk";

/** The scope of the whole program, in acorn's flags. */
const topScope = 1;

interface Scoped {
  treatFunctionsAsVarInScope(scope: { flags: number }): boolean;
}

/** In a function, unlike in a module, the same function may be declared twice: the last one counts. */
const BodyParser = Parser.extend((Base) => {
  const Scopes = Base as unknown as new (...given: never[]) => Parser & Scoped;
  class Body extends Scopes {
    override treatFunctionsAsVarInScope(scope: { flags: number }): boolean {
      return (scope.flags & topScope) !== 0 || super.treatFunctionsAsVarInScope(scope);
    }
  }
  return Body as unknown as typeof Parser;
});

/** Throws SyntaxError, with the place as `loc`. */
export function parseProgram(code: string): Program {
  return BodyParser.parse(code, {
    ecmaVersion: "latest",
    sourceType: "module",
    allowReturnOutsideFunction: true,
    allowAwaitOutsideFunction: true,
  });
}

/**
 * Whether JavaScript may mean something else as TypeScript: `f<T>(x)` is a call there and compares twice here, and so is `f<T>`
 * before a template or at the end of a line.
 */
export function mayHaveTypeArguments(program: Program, code: string): boolean {
  if (!code.includes("<")) return false;
  let found = false;
  full(program, (node: Node) => {
    if (found || node.type !== "BinaryExpression") return;
    const { operator, left, right } = node as BinaryExpression;
    if (!operator.startsWith(">") || operator.endsWith("=")) return;
    found = /[(`\n]/.test(code.slice(left.end, right.start + 1));
  });
  return found;
}
