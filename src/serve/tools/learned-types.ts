/** Tells a model the result types that its program was the first to see, so that it need not print results to learn them. */
import type { CallToolResult } from "@modelcontextprotocol/server";
import type { Receipt } from "../../sandbox/contract.ts";
import type { LearnedType } from "../../tools/catalog/observer.ts";
import type { ToolCatalog } from "../../tools/catalog/tool-catalog.ts";
import { toolId } from "../../tools/model.ts";
import { changedPart, tellingPart } from "../../tools/observed/differences.ts";
import { formatOf, observedType, resultType } from "../../tools/signature.ts";
import { maxNewTypes } from "../limits.ts";

interface Answer {
  receipt: Receipt;
  /** When the program began, in milliseconds since 1970. */
  startedAt: number;
  content: CallToolResult["content"];
}

/**
 * New types, each once with the tools that have it, and what has changed in known ones. `said` has the types that the session has been told,
 * by tool. Types that the answer shows in full are left out.
 */
export async function learnedTypes(
  { receipt, startedAt, content }: Answer,
  { observer }: ToolCatalog,
  said: Map<string, string>,
): Promise<string> {
  if (receipt.calls === 0) return "";
  const shown = content.map((each) => (each.type === "text" ? each.text : "")).join("\n");
  const learned = (await observer.learnedSince(startedAt)).flatMap((each) => {
    const id = toolId(each.server, each.tool.name);
    const type = Object.hasOwn(receipt.tools, id) ? learnedType(each) : undefined;
    if (type === undefined || said.get(id) === type) return [];
    said.set(id, type);
    return each.before === undefined && isIn(shown, type) ? [] : [{ id, type, isNew: each.before === undefined }];
  });
  const lines = [true, false].flatMap((isNew) => {
    const types = Map.groupBy(
      learned.filter((each) => each.isNew === isNew),
      ({ type }) => type,
    );
    const all = [...types].map(([type, tools]) => `${tools.map(({ id }) => id).join(", ")} → ${type}`);
    if (all.length === 0) return [];
    return [isNew ? "Observed result types:" : "Changed in observed result types:", ...all.slice(0, maxNewTypes)];
  });
  return lines.join("\n");
}

/** The new type, or its changed part. Undefined if it says nothing, or was known without a call. */
function learnedType({ tool, before }: LearnedType): string | undefined {
  const { observed = {}, outputSchema, known } = tool;
  if (before === undefined && !outputSchema && known?.type !== undefined) return undefined;
  const [type, format] = [resultType(tool), formatOf(tool)];
  const isSameType = type === resultType({ ...tool, observed: before });
  if (isSameType && format === formatOf({ ...tool, observed: before })) return undefined;
  const comment = format === undefined || /sentence/.test(format) ? "" : ` /* ${format} */`;
  if (isSameType && comment === "") return undefined;
  if (isSameType || (outputSchema && before === undefined)) return `${type}${comment}`;
  const part = before ? changedPart(before, observed) : observed;
  const telling = part && tellingPart(part);
  if (!telling || (format !== undefined && comment === "")) return undefined;
  return `${observedType(telling)}${comment}`;
}

/** Whether an answer names all fields of a type. */
function isIn(shown: string, type: string): boolean {
  const names = [...type.matchAll(/([\w$-]+)"?\??: /g)].map(([, name]) => name);
  return names.length > 0 && names.every((name) => shown.includes(`"${name}"`));
}
