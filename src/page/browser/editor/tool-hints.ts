/** The hint about a tool or a field. It stands beside the completion, and appears when the pointer rests on the name. */
import { hoverTooltip } from "@codemirror/view";
import { visible } from "../../../policy/visible.ts";
import type { PageEditorTool } from "../../programs-contract.ts";
import type { EditorNames } from "./contract.ts";
import { type Found, Types } from "./types.ts";

/** The signature and the description, as texts. */
export function hintOf({ signature, description }: Pick<PageEditorTool, "signature" | "description">): HTMLElement {
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
