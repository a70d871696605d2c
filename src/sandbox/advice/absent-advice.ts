/** Programs that reach for the network, the environment, or a package: what does the job in here. */
import type { ImportDeclaration, Literal, Node } from "acorn";
import { isCall, isMember, propertyName } from "../ast/nodes.ts";
import { candidates, objectName, wordsOf } from "../ast/tool-names.ts";
import type { Tree } from "../ast/tree.ts";
import { absentModule, keysElsewhere, noNetwork } from "./absent-names.ts";
import type { Advice, Failing, Surroundings } from "./surroundings.ts";
import { lines, toolsFor } from "./wrong-names.ts";

/** `fetch(…)` and the like, which say themselves that they are not there. */
export function network({ message, at }: Failing, around: Surroundings): Advice | undefined {
  const name = /^(fetch|XMLHttpRequest|WebSocket|EventSource): There is no network/.exec(message)?.[1];
  if (!name) return undefined;
  const { tree } = around.values;
  const calls = tree.nodes.filter((node) => isCall(node) || node.type === "NewExpression");
  const here = calls.filter((node) => at !== undefined && node.start <= at && at < node.end).at(-1);
  return {
    hint: lines(keysElsewhere, ...toolsFor(here ? tree.text(here) : textsOf(tree), around)),
  };
}

/** The program gave up because a variable of the environment is not set. */
export function environment({ name, message, hint }: Failing, around: Surroundings): Advice | undefined {
  if (hint !== undefined || name === "SyntaxError") return undefined;
  const { tree } = around.values;
  const reads = tree.nodes
    .filter(isMember)
    .filter((node) => isMember(node.object) && /^(?:process\.env|import\.meta\.env)$/.test(tree.text(node.object)));
  if (reads.length === 0) return undefined;
  const names = [...new Set(reads.flatMap((node) => propertyName(node) ?? []))];
  if (!names.some((each) => message.includes(each)) && !/env|token|key|secret|undefined|missing/i.test(message))
    return undefined;
  const calledNetwork = tree.nodes.filter(isCall).find(({ callee }) => /^(?:fetch|axios\b.*)$/.test(tree.text(callee)));
  const why = `The sandbox has no environment variables, so ${names.slice(0, 3).join(", ")} is always undefined: keys are in the servers' own config.`;
  return {
    hint: lines(
      why,
      calledNetwork && noNetwork,
      ...toolsFor(calledNetwork ? tree.text(calledNetwork) : textsOf(tree), around),
    ),
  };
}

/** A module that there is not. Nothing has run: imports come first. */
export function missingModule({ message, code, hint }: Failing, around: Surroundings): Advice | undefined {
  if (!code || !/^(?:MODULE|EXPORT|SERVER|TOOL)_/.test(code)) return undefined;
  const { tree } = around.values;
  const imports = tree.all<ImportDeclaration>("ImportDeclaration");
  const named = imports.find(({ source }) => message.includes(JSON.stringify(source.value)));
  const skill = /no skill "(.+)"/.exec(message)?.[1];
  const here = named ?? imports.find(({ source }) => skill !== undefined && String(source.value).includes(skill));
  const specifier = here ? String(here.source.value) : (/no module "(.+)"/.exec(message)?.[1] ?? "");
  const known = code === "MODULE_NOT_FOUND" ? absentModule(specifier) : undefined;
  const words = textsOf(tree);
  const meant =
    exported(message, specifier, around) ??
    (code === "MODULE_NOT_FOUND" ? serverPackage(specifier, around) : undefined);
  const better = meant ?? (known && lines(known.why, ...(known.tool ? toolsFor(words, around) : [])));
  if (!better && !here) return undefined;
  return { hint: better ?? hint, at: here?.start };
}

/** The addresses that stand in a program, else its short texts. */
function textsOf(tree: Tree): string {
  const texts = tree
    .all<Literal>("Literal")
    .flatMap(({ value }) => (typeof value === "string" && value.length < 200 ? [value] : []));
  const parts = tree.all<Node & { value: { raw: string } }>("TemplateElement").map(({ value }) => value.raw);
  const addresses = [...texts, ...parts].filter((text) => /^https?:/.test(text));
  return (addresses.length > 0 ? addresses : texts).join(" ");
}

/** A name that is taken out of a server's module and is none of its tools. */
function exported(message: string, specifier: string, around: Surroundings): string | undefined {
  const name = /has no (?:export|tool) "(.+)"$/.exec(message)?.[1];
  const server = /servers\/([^/]+?)(?:\/.*)?$/.exec(specifier.replace(/(?:\/index)?\.[cm]?[jt]s$/, ""))?.[1];
  const namespace = around.scope.namespaces.find((each) => each.name === server || each.jsName === server);
  if (name === undefined || !namespace || namespace.functions === "any") return undefined;
  const suggested = around.suggest(wordsOf(name), 20).filter((each) => each.server === namespace.name);
  const { names, signatures } = candidates(name, namespace.functions, suggested);
  return names.length > 0 ? lines(`Did you mean ${names.join(" or ")}?`, ...signatures) : undefined;
}

/** A server imported as if it were a package. */
function serverPackage(specifier: string, { scope }: Surroundings): string | undefined {
  const parts = specifier.split(/[/:@]/);
  const found = scope.namespaces.find((each) => parts.includes(each.name) || parts.includes(each.jsName ?? each.name));
  return (
    found &&
    `${objectName(found)} is a global and needs no import: await ${objectName(found)}.tool({ … }). Its module is "./servers/${found.name}".`
  );
}
