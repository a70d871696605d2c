/** Shows logged values as Node's console does, but the lines of a long text as lines, without quotes and escapes at each of them. */
import { formatWithOptions, type InspectOptions, inspect, logOptions } from "./inspect.ts";

const literal = /'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\\n]|\\.)*`/.source;
const lines = new RegExp(`(?:${literal})(?: \\+\\n *(?:${literal}))+`, "g");

/** Longer output is left as it is, because searching it takes too long. */
const maxChars = 500_000;

/** A text on its own, and texts beside others, are shown as they are. */
export function logged(values: readonly unknown[]): string {
  if (values.length === 1 && typeof values[0] === "string") return values[0];
  try {
    return joined(values);
  } catch {
    // The program has broken the prototypes.
    return formatWithOptions(logOptions, ...values);
  }
}

function joined(values: readonly unknown[]): string {
  const [first] = values;
  // A first text with `%` says how the others are shown.
  if (typeof first === "string" && first.includes("%")) return formatWithOptions(logOptions, ...values);
  return values.map((value) => (typeof value === "string" ? value : withLines(inspect(value, logOptions)))).join(" ");
}

/** Shows one value. */
export function inspected(value: unknown, options: InspectOptions): string {
  const text = inspect(value, { ...logOptions, ...options });
  try {
    return withLines(text);
  } catch {
    return text;
  }
}

/** `{ a: 'one\n' + 'two' }` becomes a text in backticks with a line break in it. */
function withLines(text: string): string {
  if (text.length > maxChars || !/\\n['"`] \+\n/.test(text)) return text;
  return text.replace(lines, (found) => {
    const parts = found.match(new RegExp(literal, "g")) ?? [];
    return `\`${parts.map((part) => unescaped(part.slice(1, -1))).join("")}\``;
  });
}

const plain: Record<string, string> = { n: "\n", t: "\t" };

/** Other escapes stay, because what they stand for cannot be seen. */
function unescaped(text: string): string {
  return text.replace(/\\([nt'"`\\])/g, (_, letter: string) => plain[letter] ?? letter);
}
