/**
 * Chooses the names of tools. A name depends on its own operation only, unless two operations want the same one: then the operation with
 * the simplest path gets it, so that names stay the same when the document grows.
 */
import { createHash } from "node:crypto";

/** Characters of a name. Agents show names whole. */
const maxToolNameChars = 100;

/** Only the beginning of a longer `operationId` or path is read. */
const maxReadIdChars = 1_000;

/** Words of a path that make a name different. With more, the method is tried first. */
const maxAddedWords = 3;

/** Hexadecimal digits that tell names apart whose ends are cut off. */
const nameHashChars = 6;

export interface NamedOperation {
  /** In capitals. */
  method: string;
  path: string;
  operationId: string | undefined;
  isDeprecated: boolean;
}

/** One name for each operation, in the same order. They are identifiers. */
export function toolNames(operations: readonly NamedOperation[]): string[] {
  const wanted = operations.map(plainName);
  const names: string[] = Array.from({ length: operations.length });
  const taken = new Set(wanted);
  const later: number[] = [];
  for (const rivals of Map.groupBy(operations.keys(), (at) => wanted[at]!).values()) {
    const [first, ...others] = rivals.toSorted((one, other) => simplest(operations[one]!, operations[other]!));
    names[first!] = wanted[first!]!;
    later.push(...others);
  }
  for (const at of later.sort((one, other) => simplest(operations[one]!, operations[other]!))) {
    const operation = operations[at]!;
    let name = otherNames(wanted[at]!, operation).find((each) => !taken.has(each));
    // Only operations that are the same in everything come here.
    for (let count = at; name === undefined || taken.has(name); count++)
      name = withHash(wanted[at]!, `${operation.method} ${operation.path} ${count}`);
    names[at] = name;
    taken.add(name);
  }
  return names;
}

function simplest(one: NamedOperation, other: NamedOperation): number {
  const segments = ({ path }: NamedOperation) => path.split("/").length;
  return (
    Number(one.isDeprecated) - Number(other.isDeprecated) ||
    segments(one) - segments(other) ||
    one.path.length - other.path.length ||
    compare(one.path, other.path) ||
    compare(one.method, other.method)
  );
}

const compare = (one: string, other: string) => (one < other ? -1 : one > other ? 1 : 0);

function plainName(operation: NamedOperation): string {
  const { method, path, operationId = "" } = operation;
  const words = withoutNoise(wordsIn(operationId.slice(0, maxReadIdChars).replace(/-[0-9a-f]{4}$/, "")), operation);
  const isTelling = words.length > 1 || (words.length === 1 && !verbs.has(words[0]!));
  const name = isTelling ? words.join("_") : pathName(method, path);
  return usable(name, method, `${method} ${path}`);
}

/** Names of the path and method that generators add, and words that say nothing. */
function withoutNoise(words: string[], { method, path }: NamedOperation): string[] {
  const generated = [...wordsIn(path.slice(0, maxReadIdChars)), method.toLowerCase()];
  const rest = words.slice(0, -generated.length);
  const isGenerated = rest.length > 0 && generated.every((word, at) => word === words[rest.length + at]);
  const telling = (isGenerated ? rest : words).filter((word) => word !== "controller");
  return telling.filter((word, at) => word !== telling[at - 1]);
}

/** `GET /repos/{owner}/{repo}/issues` → `get_repos_issues`, `GET /repos/{owner}/{repo}` → `get_repos_by_owner_repo`. */
function pathName(method: string, path: string): string {
  const segments = segmentsOf(path);
  const last = segments.findLastIndex(({ parameters }) => parameters.length === 0);
  const fixed = segments.flatMap(({ words }) => words);
  const ids = segments.slice(last + 1).flatMap(({ parameters }) => parameters);
  return [method.toLowerCase(), ...fixed, ...(ids.length > 0 ? ["by", ...ids] : [])].join("_");
}

interface Segment {
  words: string[];
  parameters: string[];
}

/** Without versions and words that every path has. */
function segmentsOf(path: string): Segment[] {
  return path
    .slice(0, maxReadIdChars)
    .replace(/\.(?:json|xml)$/, "")
    .split("/")
    .filter((segment) => segment !== "" && !/^(?:api|apis|rest)$/i.test(segment) && !isVersion(segment))
    .map((segment) => {
      const parameters = Array.from(segment.matchAll(/\{([^}]*)\}/g), ([, name = ""]) =>
        wordsIn(name).join("_"),
      ).filter(Boolean);
      return { words: wordsIn(segment.replace(/\{[^}]*\}/g, "/")), parameters };
    });
}

const isVersion = (segment: string) =>
  /^(?:v?\d+(?:[._]\d+)*(?:(?:alpha|beta)\d*)?|\d{4}-\d\d(?:-\d\d)?)$/i.test(segment);

/** Names for an operation whose plain name another one has, the best first. */
function otherNames(plain: string, { method, path, operationId }: NamedOperation): string[] {
  const version = path.split("/").find(isVersion);
  const words = new Set(plain.split("_"));
  const more = segmentsOf(path).flatMap(({ words: fixed, parameters }) => [...fixed, ...parameters]);
  const added = more.filter((word) => !words.has(word));
  const ids = segmentsOf(path).at(-1)?.parameters ?? [];
  const verb = method.toLowerCase();
  const names = [
    ...(ids.length > 0 ? [`${plain}_by_${ids.join("_")}`] : []),
    ...(version === undefined ? [] : [`${plain}_${wordsIn(/^\d/.test(version) ? `v${version}` : version).join("_")}`]),
    ...(added.length > 0 && added.length <= maxAddedWords ? [`${plain}_${added.join("_")}`] : []),
    ...(words.has(verb) ? [] : [`${plain}_${verb}`]),
    `${plain}_${added.join("_")}`,
    `${plain}_at_${more.join("_")}`,
    `${plain}_${verb}_${wordsIn(path).join("_")}`,
  ];
  const origin = `${method} ${path}`;
  return [
    ...names.map((name) => usable(name.replace(/_+$/, ""), method, origin)),
    withHash(plain, `${origin} ${operationId ?? ""}`),
  ];
}

/** An identifier of bounded length that hides nothing of ours. */
function usable(name: string, method: string, origin: string): string {
  const whole = /^\d/.test(name) || hidden.has(name) ? `${method.toLowerCase()}_${name}` : name;
  return whole.length > maxToolNameChars ? withHash(whole, origin) : whole;
}

function withHash(name: string, origin: string): string {
  const hash = createHash("sha256").update(origin).digest("hex").slice(0, nameHashChars);
  const cut = name.slice(0, maxToolNameChars - nameHashChars - 1);
  return `${name.length === cut.length ? cut : cut.replace(/_[^_]*$/, "")}_${hash}`;
}

/** Words that say nothing without the path. */
const verbs = new Set(
  "get list read create add insert update replace patch put post delete remove search find query show index fetch all destroy store edit".split(
    " ",
  ),
);

/** Names that a server has of its own, or with which an object would be taken for something else. */
const hidden = new Set(
  "then constructor prototype arguments caller apply bind call name length raw pages tools resources prompts skills instructions to_string to_json value_of has_own_property".split(
    " ",
  ),
);

/** The words of a name, in lower case: `listCoreV1Pods` → list, core, v1, pods. Letters of other scripts are left out. */
export function wordsIn(name: string): string[] {
  return name
    .normalize("NFKD")
    .replace(/\p{M}+/gu, "")
    .replace(/OAuth/g, "Oauth")
    .replace(/IPv(?=\d)/g, "Ipv")
    .replace(/([A-Z]{2,})s(?![a-z])/g, (_, letters: string) => `${letters.charAt(0)}${letters.slice(1).toLowerCase()}s`)
    .replace(/([a-z\d])([A-Z])/g, "$1 $2")
    .replace(/([A-Z]+)([A-Z][a-z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z\d]+/)
    .filter(Boolean);
}
