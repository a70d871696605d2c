/** Texts of a published server with places for the user's values, and the values that it asks for. */
import { ClaudikinsError } from "../../base/errors.ts";
import { isVisible } from "../../base/visible-text.ts";
import type { PublishedInput } from "./published.ts";

/** A value that the user gives. */
export interface Wanted {
  /** The name of the variable, the header or the argument. Within one server, equal names mean one value. */
  name: string;
  /** An environment variable of this name can provide it. */
  isVariable: boolean;
  description?: string | undefined;
  placeholder?: string | undefined;
  isRequired: boolean;
  isSecret: boolean;
  isRepeated: boolean;
  format: PublishedInput["format"];
  default?: string | undefined;
  choices?: readonly string[] | undefined;
  /** Only the user gives the value: neither a proposal of the registry nor a variable of the environment counts. */
  isTyped?: boolean;
  /** The value is a part of a mount of a container. */
  isInMount?: boolean;
}

/** Fixed texts, and values that are filled in between them. */
export type Template = readonly (string | Wanted)[];

/** Why a server, or one variant of it, cannot be added. The text ends a sentence. */
export class RegistryRefusal extends Error {
  override readonly name = "RegistryRefusal";
}

type Field = PublishedInput & { variables?: Record<string, PublishedInput> | undefined };

/** The template of a field: its fixed value with variables in braces, or else the user's value. Throws RegistryRefusal. */
export function templateOf(field: Field, name: string, more: Partial<Wanted> = {}): Template {
  const { value, variables = {}, default: _default, choices: _choices, ...rest } = field;
  if (value === undefined) return [wantedOf(field, name, more)];
  // Some publishers write `${NAME}` for a value that the user has to give, as agents do in their configs.
  const asked = value.replace(/\$\{(?:env:|input:)?([A-Za-z_][\w-]{0,99})\}/g, "{$1}");
  const isAsked = asked !== value;
  checkText(asked, name);
  return templateParts(asked, (variable) => {
    const found = Object.hasOwn(variables, variable) ? variables[variable] : undefined;
    if (found) return found.value === undefined ? wantedOf(found, variable) : checkText(found.value, variable);
    if (variable === name) return wantedOf({ ...field, value: undefined }, name, more);
    return isAsked ? wantedOf(rest, variable) : undefined;
  });
}

/** Splits a text at `{name}`. A name that `of` does not know stays as it is. */
export function templateParts(text: string, of: (name: string) => Wanted | string | undefined): Template {
  const parts: (string | Wanted)[] = [];
  let done = 0;
  for (const { 0: whole, 1: name = "", index } of text.matchAll(/\{([^{}]{1,100})\}/g)) {
    const part = of(name);
    if (part === undefined) continue;
    if (index > done) parts.push(text.slice(done, index));
    parts.push(part);
    done = index + whole.length;
  }
  if (done < text.length || parts.length === 0) parts.push(text.slice(done));
  return parts;
}

export function wantedOf(field: PublishedInput, name: string, more: Partial<Wanted> = {}): Wanted {
  const { description, placeholder, isRequired, isSecret, format, default: usual, choices } = field;
  const wanted: Wanted = {
    name,
    isVariable: false,
    description,
    placeholder,
    isRequired,
    isSecret,
    isRepeated: false,
    format,
    default: usual === "" ? undefined : usual,
    choices: choices && choices.length > 0 ? choices : undefined,
    ...more,
  };
  if (!isVisible(name) || name.trim() === "") throw new RegistryRefusal("one of its values has an unreadable name");
  for (const choice of wanted.choices ?? []) checkText(choice, name);
  const { default: given } = wanted;
  // An unusable default is a mistake of the publisher. The user then enters the value.
  const isUsable =
    given === undefined || (isVisible(given) && !given.includes("${") && valueProblem(wanted, given) === undefined);
  return isUsable ? wanted : { ...wanted, default: undefined };
}

/**
 * Returns the text if it may be part of an entry. The config expands `${NAME}` from the user's environment, so a text of a registry
 * must not contain it. Throws RegistryRefusal.
 */
export function checkText(text: string, name: string): string {
  if (!isVisible(text))
    throw new RegistryRefusal(`the value of ${name} contains control characters or invisible characters`);
  if (text.includes("${")) {
    throw new RegistryRefusal(`the value of ${name} contains "\${", which would read a variable of your environment`);
  }
  return text;
}

/** Returns the problem with a value of the user. Undefined if there is none. */
export function valueProblem({ choices, format, isInMount }: Wanted, text: string): string | undefined {
  if (text.includes("\0")) return "must not contain a null character";
  const problem = isInMount ? mountProblem(text) : undefined;
  if (problem !== undefined) return problem;
  if (reference.test(text)) return undefined;
  if (choices && !choices.includes(text)) return `must be one of ${choices.join(", ")}`;
  if (format === "number" && !/^-?\d+(?:\.\d+)?$/.test(text)) return "must be a number";
  if (format === "boolean" && text !== "true" && text !== "false") return "must be true or false";
  return undefined;
}

/** The problem with a value in `-v` or `--mount`. Undefined if it has none. */
export function mountProblem(text: string): string | undefined {
  const rest = process.platform === "win32" ? text.replace(/^[A-Za-z]:(?=[\\/])/, "") : text;
  if (rest === "") return "must not be empty";
  if (/[:,"\r\n]/.test(rest))
    return "must not contain a colon, a comma or a quotation mark, which Docker would read as its own";
  // The user cannot see where such a path leads.
  if (rest.includes("${") && /(?:^|[\\/])\.\.(?:[\\/]|$)/.test(rest))
    return "must not lead out of a folder that a variable names";
  return undefined;
}

/** The values that a registry proposes. */
export function offersOf({ default: usual, choices = [] }: Wanted): string[] {
  return [...(usual === undefined ? [] : [usual]), ...choices];
}

/** A value that is only a reference to a variable of the environment. */
const reference = /^\$\{[A-Za-z_]\w*\}$/;

/** Stands for `${` while the registry's text and the user's values are joined. */
const mark = "\u0000";

/** The values by the names in `Wanted`. */
export type TemplateValues = ReadonlyMap<string, readonly string[]>;

/** Whether all values of the template are there. */
export function isComplete(template: Template, values: TemplateValues): boolean {
  return wantedIn(template).every(({ name }) => (values.get(name)?.length ?? 0) > 0);
}

export function wantedIn(template: Template): Wanted[] {
  return template.filter((part) => typeof part !== "string");
}

/**
 * Fills in the values. References in the user's values, such as `${TOKEN}`, stay references. `change` alters the other parts. Throws
 * RegistryRefusal if the parts form another reference.
 */
export function filled(template: Template, give: (wanted: Wanted) => string, change: ChangePiece = plainValue): string {
  let whole = "";
  for (const part of template) {
    const pieces = typeof part === "string" ? [] : give(part).split(/(\$\{[A-Za-z_]\w*\})/);
    const before = whole;
    whole +=
      typeof part === "string"
        ? part
        : pieces.map((piece, at) => (at % 2 === 1 ? mark + piece.slice(2) : change(piece, part, before))).join("");
  }
  if (whole.includes("${"))
    throw new RegistryRefusal('a filled-in value contains "${", which would read a variable of your environment');
  return whole.replaceAll(mark, "${");
}

/** Changes a piece of a value. `before` is the text in front of the value, in which references are not readable. */
type ChangePiece = (piece: string, wanted: Wanted, before: string) => string;

const plainValue: ChangePiece = (piece) => piece;

/** Shows a template to a person: values that are still missing have their name in angle brackets. */
export function shownTemplate(template: Template): string {
  return template.map((part) => (typeof part === "string" ? part : `<${part.name}>`)).join("");
}

/** The error for a value that does not fit. */
export function badValue(wanted: Wanted, problem: string): ClaudikinsError {
  return new ClaudikinsError("USAGE", `${wanted.name} ${problem}`);
}
