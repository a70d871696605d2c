/** Search results as text: one block per tool, with indented lines. */
import type { FoundTool } from "../search/search.ts";
import { alsoText, type Detail, type Overview, tellingExample } from "../search/search-answer.ts";
import { escaped } from "../visible-text.ts";
import { bold, cyan, dim, paint } from "./colours.ts";
import {
  about,
  anything,
  either,
  list,
  named,
  number,
  oneOf,
  problem,
  record,
  text,
  texts,
  yesOrNo,
} from "./shapes.ts";
import { wrapped } from "./word-wrap.ts";

const names = { id: text, server: text, name: text };

const tools = list(
  either(
    named(
      "FoundTool",
      record({
        ...names,
        kind: oneOf("tool", "skill"),
        description: text,
        signature: text,
        example: text,
        "exampleTells?": about("Whether the example tells more than the signature", yesOrNo),
        score: number,
        "also?": about("Ids of the same tool on other servers", texts),
      }),
    ),
    named("ToolName", about("With --detail names", record(names))),
    named(
      "FullTool",
      about(
        "With --detail full",
        record({
          ...names,
          category: text,
          description: text,
          inputSchema: anything,
          "outputSchema?": anything,
          "observed?": about("JSON Schema of the results seen so far", anything),
          example: text,
          notes: text,
          "also?": texts,
        }),
      ),
    ),
  ),
);

export const searchShape = either(
  named(
    "Found",
    record({
      query: text,
      tools,
      searched: about("Total number of tools", number),
      notIndexed: about("Servers whose tools are not known yet", texts),
      outdated: about("Servers whose tools may have changed", texts),
    }),
  ),
  named("Line", about("With -: one per query", record({ query: text, tools, "error?": problem }))),
);

/** Maximum number of servers named when nothing was found. */
const maxServers = 20;

export interface Page {
  colours: boolean;
  /** The width of the terminal, where lines are wrapped. Undefined without a terminal. */
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
      const broken = wrapped(text, width && width - 2, width && width - 4).join("\n    ");
      return `  ${colour ? paint(broken, colour, colours) : broken}\n`;
    });
  return `${paint(oneLine(id), bold, colours)}\n${below.join("")}`;
}

/** A line break in a name must not start a new line. */
function oneLine(name: string): string {
  return name.replace(/[\n\r\t]/g, escaped);
}

/** The answer to a search without results. */
export function nothingText(searched: number, { near, servers }: Overview): string {
  const shown = servers.slice(0, maxServers).map(({ server, tools }) => `${server} (${tools})`);
  const more = servers.length > maxServers ? ` and ${servers.length - maxServers} more` : "";
  return [
    `None of ${searched} tools matches. Try other words.`,
    ...(near.length > 0 ? [`Similar names: ${near.join(", ")}`] : []),
    ...(shown.length > 0 ? [`Servers with tools: ${shown.join(", ")}${more}`] : []),
  ]
    .join("\n")
    .concat("\n");
}
