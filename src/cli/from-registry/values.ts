/** The values that a published server needs: from flags, from the environment, or from the user at the terminal. */
import { resolve } from "node:path";
import { ClaudikinsError } from "../../base/errors.ts";
import { didYouMean } from "../../base/near-names.ts";
import { homeOf } from "../../config/locations.ts";
import { badValue, type TemplateValues, valueProblem, type Wanted } from "../../setup/registries/templates.ts";
import type { Io } from "../io.ts";
import { ask, confirm } from "../terminal/prompt.ts";

export interface GivenValues {
  /** `--set name=value`, in the order of the command line. */
  set: readonly string[];
  /** `--env NAME=value`; without a value, a reference to the variable in the environment. */
  env: ReadonlyMap<string, string | undefined>;
  /** Whether required variables are taken from the environment, which the user then sees. */
  fromEnvironment: boolean;
}

/** The values that are known without a question. Throws USAGE. */
export function knownValues(wanted: readonly Wanted[], given: GivenValues, io: Io): Map<string, string[]> {
  const values = new Map<string, string[]>();
  for (const [name, list] of setValues(given.set, wanted)) values.set(name, list);
  for (const each of wanted) {
    const { name, isVariable, isRequired, isTyped = false } = each;
    const isTaken = given.fromEnvironment && isVariable && isRequired && !isTyped;
    if (values.has(name)) continue;
    if (isVariable && given.env.has(name)) values.set(name, [given.env.get(name) ?? `\${${name}}`]);
    // An optional variable is passed on only if the user says so: it may be a secret for something else.
    else if (isTaken && io.env[name] && isReferable(name)) values.set(name, [`\${${name}}`]);
  }
  for (const each of wanted) {
    const list = values.get(each.name);
    if (list)
      values.set(
        each.name,
        list.map((text) => checked(each, text, io)),
      );
  }
  return values;
}

const isReferable = (name: string) => /^[A-Za-z_]\w*$/.test(name);

function setValues(pairs: readonly string[], wanted: readonly Wanted[]): Map<string, string[]> {
  const values = new Map<string, string[]>();
  const names = wanted.map(({ name }) => name);
  for (const pair of pairs) {
    // A name may itself contain "=", so the longest name that fits is meant. Dashes in front of an option may be left out.
    const fits = (name: string) => pair.startsWith(`${name}=`) || pair.startsWith(`${name.replace(/^-+/, "")}=`);
    const name = names.filter(fits).sort((a, b) => b.length - a.length)[0];
    if (name === undefined) {
      if (!pair.includes("=")) throw new ClaudikinsError("USAGE", "--set takes name=value");
      const written = pair.slice(0, pair.indexOf("="));
      const hint = didYouMean(written, names) ?? `Its values: ${names.join(", ") || "none"}`;
      throw new ClaudikinsError("USAGE", `The server has no value called "${written}"`, { hint });
    }
    const isShort = !pair.startsWith(`${name}=`);
    const text = pair.slice((isShort ? name.replace(/^-+/, "") : name).length + 1);
    values.set(name, [...(values.get(name) ?? []), text]);
  }
  for (const { name, isRepeated } of wanted) {
    if (!isRepeated && (values.get(name)?.length ?? 0) > 1) {
      throw new ClaudikinsError("USAGE", `${name} takes one value`);
    }
  }
  return values;
}

/** Returns the value as it is written into the config: the path of a file is absolute. Throws USAGE. */
function checked(wanted: Wanted, text: string, { cwd, env }: Pick<Io, "cwd" | "env">): string {
  const problem = valueProblem(wanted, text);
  if (problem !== undefined) throw badValue(wanted, problem);
  if (wanted.format !== "filepath" || text === "" || text.startsWith("${")) return text;
  const path = resolve(cwd, text.replace(/^~(?=$|\/)/, homeOf(env)));
  const resolved = valueProblem({ ...wanted, choices: undefined }, path);
  if (resolved !== undefined) throw badValue(wanted, `is ${path}, which ${resolved}`);
  return path;
}

export interface ValueOptions {
  /** Whether the user can be asked. */
  isAsked: boolean;
  /** Whether a typed secret may be written into the config. */
  takesSecrets: boolean;
  /** Missing values are neither asked for nor an error. */
  lenient: boolean;
}

/** Asks for the rest, and takes the defaults of what is not asked. Throws NEEDS_VARIABLE and CANCELLED. */
export async function allValues(
  wanted: readonly Wanted[],
  known: TemplateValues,
  { isAsked, takesSecrets, lenient }: ValueOptions,
  io: Io,
): Promise<TemplateValues> {
  const values = new Map([...known].map(([name, list]) => [name, [...list]]));
  const open = wanted.filter(({ name }) => !values.has(name));
  const asks = ({ isSecret }: Wanted) => isAsked && !lenient && (takesSecrets || !isSecret);
  const required = open.filter(({ isRequired }) => isRequired);
  const optional = open.filter(({ isRequired }) => !isRequired);
  for (const each of required) if (asks(each)) take(each, await askFor(each, io));
  const offered = optional.filter(asks);
  if (offered.length > 0) {
    const names = offered.map(({ name }) => name).join(", ");
    const what = offered.length === 1 ? "an optional value" : `${offered.length} optional values`;
    if (await confirm(io, `It also takes ${what}: ${names}.\nSet any of them?`)) {
      for (const each of offered) take(each, await askFor(each, io));
    }
  }
  for (const each of open) {
    if (!values.has(each.name) && each.default !== undefined) values.set(each.name, [each.default]);
  }
  // A folder is never left to a variable, whose name the registry would have chosen.
  const missing = required.filter(({ name, isInMount }) => !values.has(name) && (!lenient || isInMount));
  if (missing.length > 0) throw needs(missing, takesSecrets);
  return values;

  function take({ name }: Wanted, answers: string[]): void {
    if (answers.length > 0) values.set(name, answers);
  }
}

/** Returns no answer if the user skips the value. */
async function askFor(wanted: Wanted, io: Io): Promise<string[]> {
  const { name, isSecret, isRepeated } = wanted;
  await io.stderr.write(`\n${aboutValue(wanted)}\n`);
  const answers: string[] = [];
  for (;;) {
    const prompt = answers.length > 0 ? `${name} (another one, or press Enter): ` : `${name}: `;
    const answer = (await ask(io, prompt, { hidden: isSecret })).trim();
    if (answer === "") return answers.length === 0 && wanted.default !== undefined ? [wanted.default] : answers;
    const text = choiceOf(wanted, answer);
    const problem = valueProblem(wanted, text);
    if (problem !== undefined) {
      await io.stderr.write(`  ${name} ${problem}\n`);
      continue;
    }
    answers.push(checked(wanted, text, io));
    if (!isRepeated) return answers;
  }
}

/** A choice may be typed as its number. */
function choiceOf({ choices }: Wanted, answer: string): string {
  const place = /^\d+$/.test(answer) && !choices?.includes(answer) ? Number(answer) - 1 : -1;
  return choices?.[place] ?? answer;
}

function aboutValue({
  name,
  description,
  isRequired,
  isSecret,
  isRepeated,
  format,
  default: usual,
  choices,
  placeholder,
}: Wanted): string {
  const parts = [
    isRequired ? "required" : "optional",
    ...(isSecret ? ["secret, not shown"] : []),
    ...(format === "string" ? [] : [{ number: "a number", boolean: "true or false", filepath: "a path" }[format]]),
    ...(isRepeated ? ["several values"] : []),
    ...(usual === undefined
      ? isRequired
        ? []
        : ["press Enter to skip"]
      : [`press Enter for ${JSON.stringify(usual)}`]),
    ...(placeholder === undefined ? [] : [`for example ${placeholder}`]),
  ];
  const list = (choices ?? []).map((choice, place) => `\n  ${place + 1}  ${choice}`).join("");
  return `${name} (${parts.join("; ")})${description === undefined ? "" : `: ${description}`}${list}`;
}

function needs(missing: readonly Wanted[], takesSecrets: boolean): ClaudikinsError {
  const names = missing.map(({ name }) => name);
  const lines = missing.map(
    ({ name, description }) => `  ${name}${description === undefined ? "" : `: ${description}`}`,
  );
  const flags = missing.map((each) => {
    if (each.isVariable && isReferable(each.name)) return `--env ${each.name}${each.isSecret ? "" : "=…"}`;
    const name = each.name.replace(/^-+/, "");
    return each.isSecret ? `--set '${name}=\${VARIABLE}'` : `--set '${name}=…'`;
  });
  const why = takesSecrets ? "" : " A secret is not typed into a project's file: refer to a variable.";
  return new ClaudikinsError("NEEDS_VARIABLE", `The server needs ${names.join(", ")}:\n${lines.join("\n")}`, {
    hint: `Give ${names.length === 1 ? "it" : "them"}: ${flags.join(" ")}.${why} Nothing was changed.`,
  });
}
