/** Applies the config's edits to the tools that a server lists, if they fit. */
import type { JsonObject } from "../../base/json-object.ts";
import { isObject } from "../../base/json-object.ts";
import { requiredArguments } from "../../base/json-schema.ts";
import { didYouMean } from "../../base/near-names.ts";
import type { ServerConfig } from "../../config/load.ts";
import { pathText } from "../../config/policy.ts";
import type { ToolEdit } from "../../config/tool-edits.ts";
import type { ListedTool } from "../../servers/result.ts";
import { type Redact, redactorOf, redactTexts } from "../../servers/values/secrets.ts";
import { argumentProblems } from "../arguments/argument-problems.ts";
import { editedSchema } from "../arguments/edited-schema.ts";

/** A tool as agents see it. */
export interface EditedTool extends ListedTool {
  /** The mark of the edit. Missing if the config does not edit the tool. */
  edit?: string;
}

export interface EditedTools {
  tools: EditedTool[];
  /** Edits that do not fit, for the person who wrote the config. */
  problems: string[];
}

/**
 * Unsafe edits are not applied. A tool keeps its name if another tool has the new one. A tool is left out if an argument cannot be fixed,
 * hidden or given a default as the config says.
 */
export async function editedTools(config: ServerConfig, listed: readonly ListedTool[]): Promise<EditedTools> {
  const { edits } = config;
  if (!edits) return { tools: [...listed], problems: [] };
  const names = new Set(listed.map(({ name }) => name));
  const problems: string[] = [];
  for (const { tool, place } of edits.tools) {
    if (names.has(tool)) continue;
    const near = didYouMean(tool, names);
    problems.push(`${place}: ${config.name} has no tool "${tool}"${near === undefined ? "" : `. ${near}`}`);
  }
  const redact = redactorOf(config);
  const byName = new Map(edits.tools.map((edit) => [edit.tool, edit]));
  const tools = await Promise.all(
    listed.map(async (tool): Promise<EditedTool[]> => {
      const edit = byName.get(tool.name);
      if (!edit) return [tool];
      const misfits = await argumentMisfits(edit, tool, redact);
      problems.push(...misfits.map((each) => `${each}. The tool is left out until this is corrected`));
      const isTaken = edit.name !== undefined && names.has(edit.name);
      if (isTaken) {
        problems.push(
          `${edit.place}.name: ${config.name} has another tool called "${edit.name}", so this one keeps its name`,
        );
      }
      const unneeded = edit.hidden.filter((name) => !hasArgument(tool, name));
      problems.push(...unneeded.map((name) => `${placeOf(edit, name)}: the tool has no argument "${name}"`));
      return misfits.length > 0 ? [] : [withEdit(tool, edit, isTaken ? undefined : edit.name)];
    }),
  );
  return { tools: tools.flat(), problems: problems.map(redact) };
}

/** Why arguments cannot be sent as the config says. */
async function argumentMisfits(
  edit: ToolEdit,
  { name: tool, inputSchema }: ListedTool,
  redact: Redact,
): Promise<string[]> {
  const { fixed, defaults, hidden } = edit;
  const values = Object.entries({ ...defaults, ...fixed });
  const schema = schemaOf(inputSchema);
  const found = await Promise.all(
    values.map(async ([name, value]) => {
      if (!hasArgument({ inputSchema }, name))
        return [`${placeOf(edit, name)}: ${noArgument(tool, name, inputSchema)}`];
      const problems = await valueProblems(schema, name, value, redact);
      return problems.map((problem) => `${placeOf(edit, name)}: ${problem}`);
    }),
  );
  const required = requiredArguments(inputSchema, inputSchema);
  const missing = hidden.filter((name) => required.has(name));
  return [
    ...found.flat(),
    ...missing.map((name) => `${placeOf(edit, name)}: the tool requires this argument, so it needs a "value"`),
  ];
}

/** The schema has no secrets any more, so a value also fits if it fits with its secrets removed. */
async function valueProblems(schema: JsonObject, name: string, value: unknown, redact: Redact): Promise<string[]> {
  const problems = await argumentProblems(schema, { [name]: value });
  if (problems.length === 0) return problems;
  const redacted = await argumentProblems(schema, redactTexts({ [name]: value }, redact));
  return redacted.length === 0 ? redacted : problems;
}

function noArgument(tool: string, name: string, { properties }: JsonObject): string {
  const near = didYouMean(name, Object.keys(isObject(properties) ? properties : {}));
  return `"${tool}" has no argument "${name}"${near === undefined ? "" : `. ${near}`}`;
}

function hasArgument({ inputSchema: { properties } }: Pick<ListedTool, "inputSchema">, name: string): boolean {
  return isObject(properties) && Object.hasOwn(properties, name);
}

/** The schema for single arguments. */
function schemaOf(inputSchema: JsonObject): JsonObject {
  const kept = ["$schema", "$defs", "definitions", "properties"].filter((key) => key in inputSchema);
  return { type: "object", ...Object.fromEntries(kept.map((key) => [key, inputSchema[key]])) };
}

const placeOf = ({ place }: ToolEdit, name: string) => `${place}.${pathText(["arguments", name])}`;

function withEdit(tool: ListedTool, edit: ToolEdit, name: string | undefined): EditedTool {
  const { fixed, defaults, hidden, mark } = edit;
  const unseen = [...Object.keys(fixed), ...hidden];
  const isSame = unseen.length + Object.keys(defaults).length === 0;
  return {
    ...(name === undefined ? tool : renamed(tool, name)),
    ...(edit.description === undefined ? {} : { description: edit.description }),
    ...(isSame ? {} : { inputSchema: editedSchema(tool.inputSchema, { unseen, defaults }) }),
    edit: mark,
  };
}

/** Agents may show a title in place of the name. */
function renamed({ title: _, annotations, ...tool }: ListedTool, name: string): ListedTool {
  const { title: __, ...effects } = annotations ?? {};
  return { ...tool, ...(annotations ? { annotations: effects } : {}), name };
}
