/** Asks for each parameter of a tool by its schema, for `call --interactive` and `run`. */

import { isObject, type JsonObject } from "../../base/json-object.ts";
import { requiredNames } from "../../base/json-schema.ts";
import { ArgumentProblem, type ArgumentWord, argumentOf, formsOf, formsText } from "../../programs/argument-words.ts";
import { argumentProblems } from "../../tools/arguments/argument-problems.ts";
import type { RegistryTool } from "../../tools/model.ts";
import { firstSentence } from "../../tools/signature.ts";
import type { Io } from "../io.ts";
import { ask } from "../terminal/prompt.ts";

/** Asks for the parameters that are not given, required ones first. Throws CANCELLED. */
export async function askArguments(
  { inputSchema }: Pick<RegistryTool, "inputSchema">,
  given: readonly ArgumentWord[],
  io: Io,
): Promise<ArgumentWord[]> {
  const { parts } = formsOf(inputSchema, inputSchema);
  const properties = Object.assign(Object.create(null), ...parts.map((part) => part["properties"]).filter(isObject));
  const required = new Set(parts.flatMap((part) => [...requiredNames(part)]));
  const known = new Set(
    given.flatMap((each) => ("object" in each ? Object.keys(each.object) : [each.key.split(".")[0]!])),
  );
  const names = Object.keys(properties).filter((name) => !known.has(name));
  const inOrder = [...names.filter((name) => required.has(name)), ...names.filter((name) => !required.has(name))];
  const answers: ArgumentWord[] = [];
  for (const name of inOrder) {
    const parameter = { name, schema: properties[name], isRequired: required.has(name), root: inputSchema };
    const value = await askOne(parameter, io);
    if (value !== undefined) answers.push({ word: name, key: name, json: value });
  }
  if (inOrder.length === 0) await io.stderr.write("The tool takes no other arguments.\n");
  return answers;
}

interface Parameter {
  name: string;
  schema: unknown;
  isRequired: boolean;
  /** The input schema of the tool. */
  root: JsonObject;
}

/** Returns undefined if the user skips the parameter. */
async function askOne(parameter: Parameter, io: Io): Promise<unknown> {
  const { name, isRequired } = parameter;
  await io.stderr.write(introduction(parameter));
  for (;;) {
    const answer = (await ask(io, `${name}: `)).trim();
    const usual = usualOf(parameter);
    if (answer === "" && (!isRequired || usual !== undefined)) return isRequired ? usual : undefined;
    const { value, problem } =
      answer === "" ? { value: "", problem: "a value is required" } : await read(answer, parameter);
    if (problem === undefined) return value;
    await io.stderr.write(`  ${problem}\n`);
  }
}

async function read(answer: string, parameter: Parameter): Promise<{ value?: unknown; problem?: string | undefined }> {
  const { name, schema, root } = parameter;
  const { values } = formsOf(schema, root);
  try {
    const isOne = values.some((value) => String(value) === answer);
    const place = !isOne && /^\d+$/.test(answer) ? Number(answer) - 1 : -1;
    const value = place in values ? values[place] : argumentOf(name, answer, root);
    // Check this argument alone, because the others are not answered yet.
    const alone = { ...root, required: [], properties: { [name]: schema } };
    const problems = await argumentProblems(alone, { [name]: value });
    return { value, problem: problems.length > 0 ? problems.join("; ") : undefined };
  } catch (error) {
    if (error instanceof ArgumentProblem) return { problem: error.message };
    throw error;
  }
}

/** The parameter's description, its valid values and the meaning of an empty answer. */
function introduction({ name, schema, isRequired, root }: Parameter): string {
  const forms = formsOf(schema, root);
  const usual = usualOf({ schema });
  const { description } = isObject(schema) ? schema : {};
  const about = typeof description === "string" ? `: ${firstSentence(description)}` : "";
  const takes = forms.values.length > 0 ? "one of these" : formsText(forms);
  const without = isRequired ? [] : ["press Enter to skip"];
  const parts = [takes, ...(usual === undefined ? without : [`press Enter for ${JSON.stringify(usual)}`])];
  const choices = forms.values.map((value, place) => `  ${place + 1}  ${String(value)}\n`).join("");
  return `\n${name} (${parts.join("; ")})${about}\n${choices}`;
}

function usualOf({ schema }: Pick<Parameter, "schema">): unknown {
  return isObject(schema) ? schema["default"] : undefined;
}
