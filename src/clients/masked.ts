/** A message as it may be shown: without the secrets of its server's entry, and without what looks like one. */
import { type Redact, speaksOfSecret } from "./secrets.ts";

/** Their names are those of the protocol. */
const harmlessNames = new Set(["progressToken", "nextCursor"]);

const hidden = "***";

/** What is known by its form, and how much of it may be seen. Texts may be long, so that nothing is looked for without end. */
const forms: readonly [RegExp, string][] = [
  [/\b(Bearer|Basic) +[\w.~+/=-]{8,}/gi, `$1 ${hidden}`],
  [/\b(?:gh[pousr]_|github_pat_|glpat-|sk-|xox[abeprs]-|AKIA|AIza|eyJ)(?=[\w.-]{0,99}\d)[\w.-]{12,}/g, hidden],
  [/(\w:\/\/)[^\s/?#@"]{1,999}@/g, `$1${hidden}@`],
  [/([?&][^=&\s]{0,40}(?:token|secret|password|key|sig|code|auth|session)[^=&\s]{0,40}=)[^&\s"]+/gi, `$1${hidden}`],
  [/("[\w-]{0,40}(?:token|secret|password|passwd|api[_-]?key|authorization)"\s{0,9}:\s{0,9}")[^"\\]+/gi, `$1${hidden}`],
];

/** Whole texts are looked at: of a secret that is cut in two nothing would be known again. */
export function masked<T>(message: T, redact: Redact): T {
  const text = (value: string) => forms.reduce((known, [form, shown]) => known.replace(form, shown), redact(value));
  const visit = (node: unknown, place: Place): unknown => {
    if (typeof node === "string") return place === "secret" ? hidden : text(node);
    if (typeof node === "number") return place === "secret" ? hidden : node;
    if (Array.isArray(node)) return node.map((child) => visit(child, place));
    if (node === null || typeof node !== "object") return node;
    return Object.fromEntries(
      Object.entries(node).map(([key, child]) => [text(key), visit(child, placeOf(key, child, place))]),
    );
  };
  return visit(message, "elsewhere") as T;
}

/** Below a name that speaks of a secret, or in what a tool is called with, or neither. */
type Place = "secret" | "arguments" | "elsewhere";

function placeOf(key: string, child: unknown, around: Place): Place {
  if (around === "secret") return "secret";
  const isSecret = speaksOfSecret(key) && !harmlessNames.has(key);
  // A schema describes what has such a name, and a count may have one; what a tool is called with is the very thing.
  if (isSecret && (around === "arguments" || typeof child === "string")) return "secret";
  return key === "arguments" ? "arguments" : around;
}
