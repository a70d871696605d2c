/** Proposes a name for an execution that is kept as a program, and finds the values in its code that look like input. */
import type { Literal } from "acorn";
import { isMember, isNamed, keyName, type Node, propertyName } from "../../sandbox/ast/nodes.ts";
import type { Tree } from "../../sandbox/ast/tree.ts";
import { transpile } from "../../sandbox/code/transpile.ts";
import { problemOfName } from "../saved/model.ts";
import type { Taken } from "./tape.ts";

/** Inputs that are proposed. */
const maxProposedInputs = 8;

export interface ProposedInput {
  name: string;
  value: string | number;
  /** `a month` */
  kind: string;
}

/** Forms of texts that look like input, in the order in which they are tried. The key is the name of an input that has no better one. */
const forms: readonly [name: string, kind: string, form: RegExp][] = [
  ["month", "a month", /^\d{4}-(?:0[1-9]|1[0-2])$/],
  ["date", "a date", /^\d{4}-(?:0[1-9]|1[0-2])-\d{2}$/],
  ["time", "a time", /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}/],
  ["quarter", "a quarter", /^\d{4}-?Q[1-4]$/i],
  ["email", "an address", /^[^\s@]+@[^\s@]+\.[^\s@]+$/],
  ["url", "an address", /^https?:\/\/\S+$/i],
  ["id", "an id", /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i],
  ["id", "an id", /^(?=.*\d)[A-Za-z]{1,12}[-_#]?\d[\w-]*$/],
  ["id", "an id", /^#?\d{3,}$/],
];

/** Numbers under such names say how a list is read, and are no input. */
const ofPages =
  /^(?:limit|offset|skip|page|per_?page|page_?size|max_?results|count|size|first|last|depth|top|width|height)$/i;

/** The values of the code that look like input: texts of certain forms anywhere, and numbers in the arguments of calls. */
export async function proposedInputs(code: string): Promise<ProposedInput[]> {
  const { plain } = await transpile(code);
  const found = new Map<string | number, ProposedInput>();
  const names = new Set<string>();
  for (const literal of plain.all("Literal")) {
    const { value } = literal;
    if ((typeof value !== "string" && typeof value !== "number") || found.has(value) || isKey(literal, plain)) continue;
    const named = nameAround(literal, plain);
    const form = typeof value === "string" ? forms.find(([, , form]) => form.test(value)) : undefined;
    const isNumber =
      typeof value === "number" && named !== undefined && !ofPages.test(named) && isArgument(literal, plain);
    if (!form && !isNumber) continue;
    const [wanted = "number", kind = "a number"] = form ?? [];
    const name = freeName(named ?? wanted, names);
    names.add(name);
    found.set(value, { name, value, kind });
    if (found.size === maxProposedInputs) break;
  }
  return [...found.values()];
}

function isKey(node: Literal, tree: Tree): boolean {
  const parent = tree.parent(node);
  if (!parent) return true;
  return ("key" in parent && parent.key === node) || (isMember(parent) && parent.property === node);
}

/** `month` in `{ month: "2026-10" }` and in `const month = "2026-10"`. */
function nameAround(node: Node, tree: Tree): string | undefined {
  const parent = tree.parent(node);
  if (parent?.type === "Property" && parent.value === node) return keyName(parent);
  if (parent?.type === "VariableDeclarator" && parent.id.type === "Identifier") return parent.id.name;
  return undefined;
}

/** Whether the value is a property of the object that a call of a namespace gets: `demo.list_orders({ … })`. */
function isArgument(node: Node, tree: Tree): boolean {
  const property = tree.parent(node);
  const object = property && tree.parent(property);
  const call = object && tree.parent(object);
  if (call?.type !== "CallExpression" || call.arguments[0] !== object || !isMember(call.callee)) return false;
  const { object: server } = call.callee;
  const isNamespace = server.type === "Identifier" && !tree.binding(server) && !isNamed(server, "Math");
  return isNamespace || (isMember(server) && propertyName(server) !== undefined);
}

function freeName(wanted: string, taken: ReadonlySet<string>): string {
  if (!taken.has(wanted)) return wanted;
  for (let number = 2; ; number++) if (!taken.has(`${wanted}${number}`)) return `${wanted}${number}`;
}

/** `revenue-by-region` from the comment at the beginning of the code, or from the tool that is called first. */
export function proposedName(code: string, { calls }: Pick<Taken, "calls">): string {
  const comment = /^\s*(?:\/\/|\/\*\*?)\s*([^\n]+)/.exec(code)?.[1]?.replace(/\*\/.*$/, "");
  const words = (comment ?? calls.find(({ server }) => server !== "")?.tool ?? "")
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== "" && !/^(?:the|a|an|of|for)$/.test(word));
  const name = words.slice(0, 5).join("-").slice(0, 64).replace(/-+$/, "");
  return problemOfName(name) === undefined ? name : "kept-program";
}
