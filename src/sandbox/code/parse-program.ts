/** Parses JavaScript as the sandbox runs it: the body of an async function, with imports and exports. */
import { Parser, type Program } from "acorn";
import type { Tree } from "../ast/tree.ts";

/** acorn's flag for the scope of the whole program. */
const topScope = 1;

interface Scoped {
  treatFunctionsAsVarInScope(scope: { flags: number }): boolean;
}

/** Unlike a module, a function body may declare the same function twice: the last declaration counts. */
const BodyParser = Parser.extend((Base) => {
  const Scopes = Base as unknown as new (...given: never[]) => Parser & Scoped;
  class Body extends Scopes {
    override treatFunctionsAsVarInScope(scope: { flags: number }): boolean {
      return (scope.flags & topScope) !== 0 || super.treatFunctionsAsVarInScope(scope);
    }
  }
  return Body as unknown as typeof Parser;
});

/** Throws a SyntaxError with the place as `loc`. */
export function parseProgram(code: string): Program {
  return BodyParser.parse(code, {
    ecmaVersion: "latest",
    sourceType: "module",
    allowReturnOutsideFunction: true,
    allowAwaitOutsideFunction: true,
  });
}

/**
 * Whether JavaScript may mean something else as TypeScript: `f<T>(x)` is a call in TypeScript and two comparisons in
 * JavaScript. The same holds for `f<T>` before a template or at the end of a line.
 */
export function mayHaveTypeArguments(tree: Tree): boolean {
  return tree.all("BinaryExpression").some(({ operator, left, right }) => {
    if (!operator.startsWith(">") || operator.endsWith("=")) return false;
    return /[(`\n]/.test(tree.code.slice(left.end, right.start + 1));
  });
}
