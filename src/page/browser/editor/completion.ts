/** Completes servers, tools, arguments, their values, and the fields of results. */
import {
  type Completion,
  type CompletionContext,
  type CompletionResult,
  startCompletion,
} from "@codemirror/autocomplete";
import { localCompletionSource } from "@codemirror/lang-javascript";
import { type EditorView, hoverTooltip } from "@codemirror/view";
import type { SyntaxNode } from "@lezer/common";
import { visible } from "../../../policy/hidden-characters.ts";
import type { PageEditorTool, PageField, PageType } from "../../programs-contract.ts";
import type { EditorNames } from "./contract.ts";
import { type Found, Types } from "./types.ts";

/** An identifier that is being written. */
const word = /[\w$]*$/;

const wordSoFar = /^[\w$]*$/;

/** Names that programs have beside their servers, with what they do. */
const globals: [name: string, about: string][] = [
  ["servers", "The servers by their own names"],
  ["tools", "Searches, describes and lists tools"],
  ["display", "Shows a text, an image or a file"],
  ["callTool", "Calls a tool whose name is known only at run time"],
  ["sleep", 'Waits for milliseconds, or for a text such as "90s"'],
  ["fs", "Reads and writes files in ./workspace"],
  ["console", "Writes lines to the logs"],
];

const keywords =
  "async await break case catch const continue default do else export false finally for function if import in instanceof let new null of return switch throw true try typeof undefined while".split(
    " ",
  );

/** Members of lists that programs often use. */
const listMembers =
  "length map filter find some every reduce sort toSorted slice at includes join flatMap forEach".split(" ");

export async function completeTools(context: CompletionContext, names: EditorNames): Promise<CompletionResult | null> {
  const { state, pos, explicit } = context;
  const types = new Types(state, names);
  const node = types.nodeAt(pos);
  if (/Comment$/.test(node.name)) return null;
  const member = memberAt(node);
  if (member) return members(await types.of(member.object), member.from, names);
  const property = node.name === "Property" ? node : node.parent;
  if (property?.name === "Property" && isBehindColon(property, pos)) {
    const values = (await types.expectedField(property))?.type.values;
    if (values) return valuesOf(values, node, pos, context);
  }
  const object = isKeyPlace(node) ? objectAround(node) : undefined;
  const expected = object && (await types.expected(object));
  if (object && expected?.fields) return argumentsOf(expected, object, types, context);
  if (node.name === "String" || node.name === "TemplateString") return null;
  const from = context.matchBefore(word)?.from ?? pos;
  if (from === pos && !explicit) return null;
  return withLocals(await globalsOf(names), from, context);
}

/** The object of a member expression whose name is being written at the end of the node. */
function memberAt(node: SyntaxNode): { object: SyntaxNode | null; from: number } | undefined {
  const expression = node.name === "MemberExpression" ? node : node.parent;
  if (expression?.name !== "MemberExpression") return undefined;
  if (node.name === "PropertyName") return { object: expression.firstChild, from: node.from };
  const dot = expression.getChild(".") ?? expression.getChild("?.");
  const isDot = node.name === "." || node.name === "?." || node.name === "⚠" || node === expression;
  return dot && isDot ? { object: expression.firstChild, from: dot.to } : undefined;
}

async function members(found: Found | undefined, from: number, names: EditorNames): Promise<CompletionResult | null> {
  const result = (options: Completion[]) => (options.length === 0 ? null : { from, options, validFor: wordSoFar });
  if (found?.kind === "value") return fieldsOf(found.type, from);
  if (found?.kind === "servers") return result((await globalsOf(names)).filter(({ type }) => type === "namespace"));
  if (found?.kind !== "server") return null;
  const tools = await names.tools(found.name);
  return result(tools.filter(({ jsName }) => jsName !== undefined).map(toolCompletion));
}

/** Whether the name of an argument can stand at the end of the node. */
function isKeyPlace({ name }: SyntaxNode): boolean {
  return /^(?:ObjectExpression|ObjectPattern|PropertyDefinition|PropertyName|Property|PatternProperty|,|\{|⚠)$/.test(
    name,
  );
}

function objectAround(node: SyntaxNode): SyntaxNode | undefined {
  for (let each: SyntaxNode | null = node, steps = 0; each && steps < 4; each = each.parent, steps += 1) {
    if (each.name === "ObjectExpression" || each.name === "ObjectPattern") return each;
  }
  return undefined;
}

function isBehindColon(property: SyntaxNode, pos: number): boolean {
  const colon = property.getChild(":");
  return colon !== null && colon.to <= pos;
}

function fieldsOf({ fields = [], items }: PageType, from: number): CompletionResult | null {
  const options = [
    ...fields.map((field): Completion => fieldCompletion(field)),
    ...(items ? listMembers.map((label) => ({ label, type: "method", boost: -1 })) : []),
  ].filter(({ label }) => /^[\p{L}_$][\p{L}\d_$]*$/u.test(label));
  return options.length === 0 ? null : { from, options, validFor: wordSoFar };
}

function fieldCompletion({ name, isOptional, description, type }: PageField): Completion {
  return {
    label: name,
    detail: `${isOptional ? "?" : ""}: ${short(type.text)}`,
    type: "property",
    ...(description === "" ? {} : { info: visible(description) }),
  };
}

const short = (text: string) => (text.length > 40 ? `${text.slice(0, 39)}…` : text);

/** The arguments that are not there yet. Required ones come first. */
function argumentsOf(
  { fields = [] }: PageType,
  object: SyntaxNode,
  types: Types,
  context: CompletionContext,
): CompletionResult | null {
  const from = context.matchBefore(word)?.from ?? context.pos;
  const taken = new Set<string>();
  for (let each = object.firstChild; each; each = each.nextSibling) {
    if (each.firstChild && !(each.from <= context.pos && context.pos <= each.to))
      taken.add(types.text(each.firstChild));
  }
  const options = fields
    .filter(({ name }) => !taken.has(name) && !taken.has(JSON.stringify(name)))
    .map((field) => ({
      ...fieldCompletion(field),
      apply: (view: EditorView, _: Completion, start: number, end: number) => {
        const key = /^[\p{L}_$][\p{L}\d_$]*$/u.test(field.name) ? field.name : JSON.stringify(field.name);
        insert(view, `${key}: `, start, end);
        if (field.type.values) startCompletion(view);
      },
      boost: field.isOptional ? 0 : 10,
    }));
  return options.length === 0 ? null : { from, options, validFor: wordSoFar };
}

/** The values of an argument, in place of the text that is being written. */
function valuesOf(
  values: readonly string[],
  node: SyntaxNode,
  pos: number,
  context: CompletionContext,
): CompletionResult {
  const isText = node.name === "String" && node.from < pos;
  const from = isText ? node.from : (context.matchBefore(word)?.from ?? pos);
  const to = isText ? node.to : pos;
  return { from, to, options: values.map((label) => ({ label, type: "constant" })), validFor: /^["']?[\w$ .-]*["']?$/ };
}

async function globalsOf(names: EditorNames): Promise<Completion[]> {
  const { servers } = await names.editor();
  return [
    ...servers.flatMap(({ name, jsName, description }) => {
      const info = description === "" ? {} : { info: visible(description) };
      const detail = jsName === name ? "server" : `server ${visible(name)}`;
      return jsName === undefined ? [] : [{ label: jsName, type: "namespace", detail, boost: 20, ...info }];
    }),
    ...globals.map(([label, info]) => ({ label, type: "function", info, boost: 5 })),
    ...keywords.map((label) => ({ label, type: "keyword", boost: -5 })),
  ];
}

function withLocals(options: Completion[], from: number, context: CompletionContext): CompletionResult {
  const locals = localCompletionSource(context)?.options ?? [];
  const known = new Set(locals.map(({ label }) => label));
  return { from, options: [...locals, ...options.filter(({ label }) => !known.has(label))], validFor: wordSoFar };
}

/** A tool is inserted with its brackets, and the cursor where its arguments belong. */
function toolCompletion(tool: PageEditorTool): Completion {
  const label = tool.jsName ?? tool.name;
  return {
    label,
    type: "method",
    info: () => ({ dom: hintOf(tool) }),
    apply(view, _, from, to) {
      const isCalled = view.state.sliceDoc(to, to + 1) === "(";
      const hasArguments = (tool.arguments.fields ?? []).length > 0;
      if (isCalled) insert(view, label, from, to);
      else if (hasArguments) insert(view, `${label}({  })`, from, to, label.length + 3);
      else insert(view, `${label}()`, from, to);
      if (hasArguments && !isCalled) startCompletion(view);
    },
  };
}

function insert(view: EditorView, text: string, from: number, to: number, cursor = text.length): void {
  const changes = { from, to, insert: text };
  view.dispatch({ changes, selection: { anchor: from + cursor }, userEvent: "input.complete" });
}

/** The signature and the description, as texts. */
function hintOf({ signature, description }: Pick<PageEditorTool, "signature" | "description">): HTMLElement {
  const hint = document.createElement("div");
  hint.className = "cm-hint";
  const code = document.createElement("code");
  code.textContent = visible(signature);
  hint.append(code);
  if (description !== "") {
    const about = document.createElement("p");
    about.textContent = visible(description);
    hint.append(about);
  }
  return hint;
}

export const toolHints = (names: () => EditorNames) =>
  hoverTooltip(async ({ state }, pos) => {
    const types = new Types(state, names());
    const node = types.nodeAt(pos + 1);
    const isName = ["VariableName", "PropertyName", "PropertyDefinition"].includes(node.name);
    if (!isName) return null;
    const found = await foundAt(node, types);
    const shown = found && textOf(found);
    return shown ? { pos: node.from, end: node.to, above: true, create: () => ({ dom: hintOf(shown) }) } : null;
  });

async function foundAt(node: ReturnType<Types["nodeAt"]>, types: Types): Promise<Found | undefined> {
  if (node.name === "VariableName") return types.of(node);
  if (node.name === "PropertyName") return types.of(node.parent);
  const field = node.parent && (await types.expectedField(node.parent));
  return field ? { kind: "value", type: field.type, field } : undefined;
}

function textOf(found: Found): { signature: string; description: string } | undefined {
  if (found.kind === "tool") return found.tool;
  if (found.kind !== "value") return undefined;
  const { type, field } = found;
  return { signature: field ? `${field.name}: ${type.text}` : type.text, description: field?.description ?? "" };
}
