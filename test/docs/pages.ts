/** The documentation as text: its pages, their fenced blocks, tables, headings and links. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../support/claudikins.ts";

export interface Page {
  /** Relative to the root of the repository: `docs/policy.md`. */
  path: string;
  text: string;
}

export interface Block {
  /** The text after the fence: `sh`, `ts no-run`. */
  info: string;
  text: string;
  /** The line of the fence, counted from 1. */
  line: number;
}

export const pageAt = (path: string): Page => ({ path, text: readFileSync(join(root, path), "utf8") });

/** The pages of `docs/`, by name. */
export const docsPages: Page[] = readdirSync(join(root, "docs"))
  .filter((name) => name.endsWith(".md"))
  .sort()
  .map((name) => pageAt(`docs/${name}`));

/** The pages about decisions. */
const decisionPages: Page[] = readdirSync(join(root, "docs", "decisions"))
  .sort()
  .map((name) => pageAt(`docs/decisions/${name}`));

/** All documentation pages, including those of `docs/`. */
export const allPages: Page[] = [
  ...["README.md", "CONTRIBUTING.md", "SECURITY.md", "src/README.md", "test/README.md", "registry/README.md"]
    .filter((path) => existsSync(join(root, path)))
    .map(pageAt),
  ...docsPages,
  ...decisionPages,
];

/** Fenced blocks in the order of the page. A block in a list loses its indentation. */
export function blocksOf({ text }: Page): Block[] {
  return [...text.matchAll(/^( *)```([^\n`]*)\n([\s\S]*?)^\1```$/gm)].map(
    ({ 1: indent = "", 2: info = "", 3: body = "", index }) => ({
      info: info.trim(),
      text: body.replace(new RegExp(`^${indent}`, "gm"), ""),
      line: text.slice(0, index).split("\n").length,
    }),
  );
}

/** The page without its fenced blocks, which keep their lines. */
export function proseOf({ text }: Page): string {
  return text.replace(/^( *)```[^\n`]*\n[\s\S]*?^\1```$/gm, (block) => block.replace(/[^\n]/g, ""));
}

/** Spans of inline code in the prose. */
export function codeSpansOf(page: Page): string[] {
  return [...proseOf(page).matchAll(/(?<!`)`([^`\n]+)`(?!`)/g)].map(([, code = ""]) => code);
}

/** Commands of shell and console blocks, one per line, without prompts and comments. */
export function commandLinesOf(page: Page): string[] {
  return blocksOf(page).flatMap(({ info, text }) => {
    const lines = text.split("\n");
    if (info === "sh") return lines;
    return info === "console" ? lines.filter((line) => line.startsWith("$ ")).map((line) => line.slice(2)) : [];
  });
}

/** The anchors of a page, which GitHub derives from headings. */
export function anchorsOf(page: Page): Set<string> {
  const anchors = new Set<string>();
  for (const [, heading = ""] of proseOf(page).matchAll(/^#{1,6} (.+)$/gm)) {
    const slug = heading
      .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, "")
      .trim()
      .replace(/\s/g, "-");
    let anchor = slug;
    for (let count = 1; anchors.has(anchor); count++) anchor = `${slug}-${count}`;
    anchors.add(anchor);
  }
  return anchors;
}

/** Targets of links and images, including those defined at the end of the page. */
export function linksOf(page: Page): string[] {
  const prose = proseOf(page).replace(/`[^`\n]*`/g, "");
  const inline = [...prose.matchAll(/\]\(([^)\s]+)\)/g)];
  const defined = [...prose.matchAll(/^\[[^\]]+\]: (\S+)$/gm)];
  return [...inline, ...defined].map(([, target = ""]) => target);
}

/** Rows of the tables whose first column has this title, as cells by title. `mark` is the comment above the table. */
export function rowsOf(page: Page, firstTitle: string): { mark: string; cells: Record<string, string> }[] {
  const tables = page.text.matchAll(/(?:^<!-- ([^\n]*) -->\n\n)?((?:^ *\|.*\|\n?)+)/gm);
  return [...tables].flatMap(({ 1: mark = "", 2: table = "" }) => {
    const [titles = [], , ...rows] = table.trim().split("\n").map(cellsOf);
    if (titles[0] !== firstTitle) return [];
    return rows.map((row) => ({
      mark,
      cells: Object.fromEntries(titles.map((title, column) => [title, row[column] ?? ""])),
    }));
  });
}

function cellsOf(line: string): string[] {
  return line
    .trim()
    .replace(/^\||\|$/g, "")
    .split("|")
    .map((cell) => cell.trim());
}

/** The spans of inline code in a cell. */
export const codesIn = (cell = "") => [...cell.matchAll(/`([^`]+)`/g)].map(([, code = ""]) => code);
