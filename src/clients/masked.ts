/** Masks secrets in messages that are shown: those of the server's entry, and texts that look like one. */
import { type Redact, speaksOfSecret } from "./secrets.ts";

/** Names of the protocol. */
const harmlessNames = new Set(["progressToken", "nextCursor"]);

const hidden = "***";

/** Forms of secrets, and how they are shown. Repetitions are bounded, because texts may be long. */
const forms: readonly [RegExp, string][] = [
  [/\b(Bearer|Basic) +[\w.~+/=-]{8,}/gi, `$1 ${hidden}`],
  [/\b(?:gh[pousr]_|github_pat_|glpat-|sk-|xox[abeprs]-|AKIA|AIza|eyJ)(?=[\w.-]{0,99}\d)[\w.-]{12,}/g, hidden],
  [/(\w:\/\/)[^\s/?#@"]{1,999}@/g, `$1${hidden}@`],
  [/([?&][^=&\s]{0,40}(?:token|secret|password|key|sig|code|auth|session)[^=&\s]{0,40}=)[^&\s"]+/gi, `$1${hidden}`],
  [/("[\w-]{0,40}(?:token|secret|password|passwd|api[_-]?key|authorization)"\s{0,9}:\s{0,9}")[^"\\]+/gi, `$1${hidden}`],
];

/** Texts are masked before they are cut, because half a secret would not be recognised. */
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

/** Whether a value is below a name of a secret, in the arguments of a tool, or neither. */
type Place = "secret" | "arguments" | "elsewhere";

function placeOf(key: string, child: unknown, around: Place): Place {
  if (around === "secret") return "secret";
  const isSecret = speaksOfSecret(key) && !harmlessNames.has(key);
  // A schema describes properties with such names, and a number may be a count. In arguments, it is the secret itself.
  if (isSecret && (around === "arguments" || typeof child === "string")) return "secret";
  return key === "arguments" ? "arguments" : around;
}
