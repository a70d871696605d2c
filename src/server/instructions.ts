/** The instructions that an agent gives to its model: the servers and how to use them, within a token budget. */
import { stateProblem } from "../clients/state.ts";
import type { RegistryServer } from "../registry/model.ts";
import { firstSentence, signature } from "../registry/signature.ts";
import { estimateTokens } from "../token-estimate.ts";
import type { Toolbox } from "../toolbox/toolbox.ts";

/** Claude Code and other agents cut instructions at this length. */
const maxChars = 2_048;

const head =
  "Find the tools of these MCP servers with search_tools; call them in execute_code as `await server.tool(args)`.";
const locked =
  "The project's MCP servers start once the user trusts its config. Until then, search_tools and execute_code ask the user, or return the command to run. " +
  "After that, find tools with search_tools, and call them in execute_code as `await server.tool(args)`.";
const none = "No MCP servers are configured yet: the user adds them to mcpServers in claudikins.json.";

/** Maximum tokens of one server's description, so that some are left for signatures. */
const maxWordTokens = 40;

/** A smaller share is not worth a description. */
const minWordTokens = 4;

interface Entry {
  name: string;
  /** The name, with the number of tools if it is known. */
  label: string;
  /** A sentence about its purpose, else names of its tools. */
  pieces: string[];
  separator: string;
  known: RegistryServer | undefined;
}

type Fits = (text: string) => boolean;

/** Names every server before describing any, and describes them before adding signatures. */
export function instructionsFor(toolbox: Toolbox, maxTokens: number): string {
  if (toolbox.isLocked) return locked;
  const open = [...toolbox.config.servers.keys()].filter((name) => !toolbox.catalog.isClosed(name));
  const entries = open.map((name) => entryOf(name, toolbox));
  if (entries.length === 0) return none;
  // The estimate of such short words may be a little low.
  const fits: Fits = (text) => text.length <= maxChars && estimateTokens(text) * 1.05 <= maxTokens;
  const bare = withLines(entries.map(({ label }) => [label]));
  if (!fits(bare)) return inOneLine(entries, fits);
  const described = withWords(entries, maxTokens - estimateTokens(bare), fits);
  return withSignatures(entries, described, fits);
}

const withLines = (lines: string[][]) => [head, ...lines.map((each) => `- ${each.join("\n  ")}`)].join("\n");

/** Lists names, with the numbers of tools if they fit. Servers that do not fit are counted. */
function inOneLine(entries: Entry[], fits: Fits): string {
  const text = (names: string[], left: number) => `${head}\n${names.join(", ")}${left > 0 ? ` and ${left} more` : ""}`;
  const labels = entries.map(({ label }) => label);
  if (fits(text(labels, 0))) return text(labels, 0);
  const names = entries.map(({ name }) => name);
  const first = (count: number) => text(names.slice(0, count), names.length - count);
  let [least, most] = [0, names.length];
  while (least < most) {
    const middle = Math.ceil((least + most) / 2);
    if (fits(first(middle))) least = middle;
    else most = middle - 1;
  }
  return first(least);
}

/** Shares the tokens evenly. The others get what one server does not need. */
function withWords(entries: Entry[], tokens: number, fits: Fits): string[] {
  const wanted = entries.map((entry) => takenBy(entry, maxWordTokens).tokens);
  for (let left = tokens; left > 0; left = Math.floor(left * 0.9) - 1) {
    const share = evenShare(wanted, left);
    const labels = entries.map((entry) => describedLabel(entry, share));
    if (fits(withLines(labels.map((label) => [label])))) return labels;
  }
  return entries.map(({ label }) => label);
}

/** The largest equal share if nobody takes more than it needs. */
function evenShare(wanted: number[], tokens: number): number {
  let [left, others] = [tokens, wanted.length];
  for (const want of wanted.toSorted((a, b) => a - b)) {
    if (want * others > left) return Math.floor(left / others);
    left -= want;
    others -= 1;
  }
  return maxWordTokens;
}

/** How many pieces fit into the tokens, and how many tokens they take. */
function takenBy({ pieces, separator }: Entry, maxTokens: number): { count: number; tokens: number } {
  let tokens = 0;
  for (const [count, piece] of pieces.entries()) {
    const more = estimateTokens(` ${piece}${separator.trim()}`);
    if (tokens + more > maxTokens) return { count, tokens };
    tokens += more;
  }
  return { count: pieces.length, tokens };
}

function describedLabel(entry: Entry, share: number): string {
  const { label, pieces, separator } = entry;
  const { count } = share < minWordTokens ? { count: 0 } : takenBy(entry, share);
  if (count === 0) return label;
  return `${label}: ${pieces.slice(0, count).join(separator)}${count < pieces.length ? " …" : ""}`;
}

/** Shows all signatures of a server or none: a few would look like all. The smallest servers come first. */
function withSignatures(entries: Entry[], labels: string[], fits: Fits): string {
  const lines = labels.map((label) => [label]);
  let text = withLines(lines);
  const bySize = entries
    .flatMap(({ known }, at) => (known && known.tools.length > 0 ? [{ at, known }] : []))
    .sort((a, b) => a.known.tools.length - b.known.tools.length);
  for (const { at, known } of bySize) {
    // No signature is shorter than this, so more tools cannot fit.
    if (!fits(`${text}${"\n f()".repeat(known.tools.length)}`)) break;
    const signatures = known.tools.map((tool) => oneLine(signature(known, tool), 1_000));
    lines[at] = [labels[at]!, ...signatures];
    const longer = withLines(lines);
    if (fits(longer)) text = longer;
    else lines[at] = [labels[at]!];
  }
  return text;
}

function entryOf(name: string, toolbox: Toolbox): Entry {
  const known = toolbox.catalog.find(name);
  const problem = stateProblem(toolbox.pool.state(name));
  // A server that cannot be used is not described: its problem is, so that the user can solve it.
  if (problem !== undefined) {
    return {
      name: oneLine(name),
      label: oneLine(name),
      pieces: oneLine(problem, 200).split(" "),
      separator: " ",
      known,
    };
  }
  const description = toolbox.config.servers.get(name)?.description || known?.description || "";
  const tools = known?.tools.slice(0, maxWordTokens) ?? [];
  const sentence = firstSentence(description, 200);
  return {
    name: oneLine(name),
    label: known ? `${oneLine(name)} (${known.tools.length})` : oneLine(name),
    pieces: sentence ? oneLine(sentence, 200).split(" ") : tools.map((tool) => oneLine(tool.name)),
    separator: sentence ? " " : ", ",
    known,
  };
}

/** Reduces a server's own text to one line. */
function oneLine(text: string, maxLength = 64): string {
  if (text.length <= maxLength && /^[\x21-\x7e]+(?: [\x21-\x7e]+)*$/.test(text)) return text;
  const line = text
    .slice(0, 4 * maxLength)
    .replace(/[\s\p{Cc}\p{Cf}]+/gu, " ")
    .trim();
  return line.length <= maxLength ? line : `${line.slice(0, maxLength - 1)}…`;
}
