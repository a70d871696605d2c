/** What a search found, as a person reads it: a name a block, indented lines below it. */
import type { FoundTool } from "../flows/search.ts";
import { alsoText, type Detail, type Overview, tellingExample } from "../flows/search-answer.ts";
import { bold, cyan, dim, paint } from "./colours.ts";

/** Servers that are named where nothing was found. */
const maxServers = 20;

export interface Page {
  colours: boolean;
  /** Of the terminal, where there is one: longer lines are broken between words. */
  width?: number | undefined;
}

export function foundText(tools: FoundTool[], detail: Exclude<Detail, "full">, page: Page): string {
  const entries = tools.map((tool) => entryText(tool, detail, page));
  return entries.join(detail === "names" ? "" : "\n");
}

function entryText(found: FoundTool, detail: Detail, { colours, width }: Page): string {
  const { id, description, signature } = found;
  const lines: [string, string][] = [[description, ""]];
  if (detail === "signatures") {
    lines.push([signature, cyan], [tellingExample(found) ?? "", dim]);
    lines.push([alsoText(found) ?? "", dim]);
  }
  const below = lines
    .filter(([text]) => text !== "")
    .map(([text, colour]) => {
      const broken = linesOf(text, width).join("\n    ");
      return `  ${colour ? paint(broken, colour, colours) : broken}\n`;
    });
  return `${paint(id, bold, colours)}\n${below.join("")}`;
}

/** The first is indented by two, the others by four. */
function linesOf(text: string, width = Number.POSITIVE_INFINITY): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.replace(/[\p{Cc}\s]+/gu, " ").split(" ")) {
    const longer = line === "" ? word : `${line} ${word}`;
    if (line !== "" && Bun.stringWidth(longer) > width - (lines.length === 0 ? 2 : 4)) {
      lines.push(line);
      line = word;
    } else line = longer;
  }
  return [...lines, line];
}

/** For who found nothing. */
export function nothingText(searched: number, { near, servers }: Overview): string {
  const shown = servers.slice(0, maxServers).map(({ server, tools }) => `${server} (${tools})`);
  const more = servers.length > maxServers ? ` and ${servers.length - maxServers} more` : "";
  return [
    `None of ${searched} tools matches. Try other words.`,
    ...(near.length > 0 ? [`Names that are near: ${near.join(", ")}`] : []),
    ...(shown.length > 0 ? [`Servers with tools: ${shown.join(", ")}${more}`] : []),
  ]
    .join("\n")
    .concat("\n");
}
