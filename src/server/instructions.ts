/** What a host tells its model about us: which servers there are, and how to work with them, in so many tokens. */
import { stateProblem } from "../clients/state.ts";
import type { RegistryServer } from "../registry/model.ts";
import { firstSentence, signature } from "../registry/signature.ts";
import { estimateTokens } from "../token-estimate.ts";
import type { Toolbox } from "../toolbox/toolbox.ts";

/** Hosts cut it there; Claude Code does. */
const maxChars = 2_048;

const head =
  "Find the tools of these MCP servers with search_tools; call them in execute_code as `await server.tool(args)`.";
const locked =
  "The project's MCP servers start once the user trusts its config. Until then, search_tools and execute_code ask the user, or return the command to run. " +
  "After that, find tools with search_tools, and call them in execute_code as `await server.tool(args)`.";
const none = "No MCP servers are configured yet: the user adds them to mcpServers in claudikins.json.";

/** What one server's words take at most, so that something is left for signatures. */
const maxWordTokens = 40;

/** A share that is smaller says nothing. */
const minWordTokens = 4;

interface Entry {
  name: string;
  /** With the number of tools, where it is known. */
  label: string;
  /** What it is for: a sentence; else names of its tools. */
  pieces: string[];
  separator: string;
  known: RegistryServer | undefined;
}

type Fits = (text: string) => boolean;

/** Every server is named before any is described, and described before signatures follow. */
export function instructionsFor(toolbox: Toolbox, maxTokens: number): string {
  if (toolbox.isLocked) return locked;
  const open = [...toolbox.config.servers.keys()].filter((name) => !toolbox.catalog.isClosed(name));
  const entries = open.map((name) => entryOf(name, toolbox));
  if (entries.length === 0) return none;
  // An estimate of so short words may be a little too low.
  const fits: Fits = (text) => text.length <= maxChars && estimateTokens(text) * 1.05 <= maxTokens;
  const bare = withLines(entries.map(({ label }) => [label]));
  if (!fits(bare)) return inOneLine(entries, fits);
  const described = withWords(entries, maxTokens - estimateTokens(bare), fits);
  return withSignatures(entries, described, fits);
}

const withLines = (lines: string[][]) => [head, ...lines.map((each) => `- ${each.join("\n  ")}`)].join("\n");

/** Names side by side, with or without the numbers of tools; of those that do not fit either, how many they are. */
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

/** The tokens are shared out evenly; what one server does not need is the others'. */
function withWords(entries: Entry[], tokens: number, fits: Fits): string[] {
  const wanted = entries.map((entry) => takenBy(entry, maxWordTokens).tokens);
  for (let left = tokens; left > 0; left = Math.floor(left * 0.9) - 1) {
    const share = evenShare(wanted, left);
    const labels = entries.map((entry) => describedLabel(entry, share));
    if (fits(withLines(labels.map((label) => [label])))) return labels;
  }
  return entries.map(({ label }) => label);
}

/** The most that each may take when nobody takes more than they want. */
function evenShare(wanted: number[], tokens: number): number {
  let [left, others] = [tokens, wanted.length];
  for (const want of wanted.toSorted((a, b) => a - b)) {
    if (want * others > left) return Math.floor(left / others);
    left -= want;
    others -= 1;
  }
  return maxWordTokens;
}

/** How many pieces so many tokens are enough for, and what these take. */
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

/** Of a server all of its tools or none: a few would look as if there were no others. The smallest servers come first. */
function withSignatures(entries: Entry[], labels: string[], fits: Fits): string {
  const lines = labels.map((label) => [label]);
  let text = withLines(lines);
  const bySize = entries
    .flatMap(({ known }, at) => (known && known.tools.length > 0 ? [{ at, known }] : []))
    .sort((a, b) => a.known.tools.length - b.known.tools.length);
  for (const { at, known } of bySize) {
    // None is shorter than that: what cannot fit is not made.
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
  // A server that cannot be used is not described: the words are those that the user can do something with.
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

/** What servers say of themselves is one line of text, whatever they send. */
function oneLine(text: string, maxLength = 64): string {
  if (text.length <= maxLength && /^[\x21-\x7e]+(?: [\x21-\x7e]+)*$/.test(text)) return text;
  const line = text
    .slice(0, 4 * maxLength)
    .replace(/[\s\p{Cc}\p{Cf}]+/gu, " ")
    .trim();
  return line.length <= maxLength ? line : `${line.slice(0, maxLength - 1)}…`;
}
