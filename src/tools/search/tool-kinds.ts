/** Tells tools that destroy or write from others, by their names and annotations. */
import type { NumberedTool } from "./prepared-index.ts";
import type { RankableTool } from "./ranking.ts";
import { actOf, changesSomething, endsSomething } from "./thesaurus.ts";
import { stemOf, wordsOf } from "./tokenize.ts";

type KindInput = Pick<RankableTool, "act" | "name"> & Pick<NumberedTool, "of" | "tool">;

/** Whether the tool destroys something: by its name, or by its annotation and a name that ends something. */
export function isDestroyer({ act, name, tool }: KindInput): boolean {
  if (act === "delete") return true;
  return tool.annotations?.["destructiveHint"] === true && name.some(endsSomething);
}

/** Whether the tool writes, by the verbs in its name. `post_list` and `find_and_replace` may do either. */
export function isWriter({ name, of, tool }: KindInput): boolean {
  if (tool.annotations?.["readOnlyHint"] === true) return false;
  const acts = name.map(actOf);
  if (acts.includes("read")) return false;
  const ofServer = new Set(wordsOf(of.name).map(stemOf));
  const first = name.find((stem) => !ofServer.has(stem));
  return (
    acts.some((act) => act !== undefined && writingActs.has(act)) || (first !== undefined && changesSomething(first))
  );
}

const writingActs: ReadonlySet<string> = new Set(["create", "update", "delete", "send"]);
