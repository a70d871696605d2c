/** Says in a few words what an execution is about: by the comment at the beginning of its code, or by the tools that it called. */
import { counted } from "../../base/counted.ts";
import { exportsOf } from "../../sandbox/code/skill-exports.ts";
import type { CalledTool } from "./record.ts";

/** Characters of the code in which its comment is looked for. */
const maxReadCommentChars = 4_000;

/** Subjects that a sentence about calls names. */
const maxNamedSubjects = 3;

/** Words with which names of tools begin, and which say nothing about the subject. */
const verbs = new Set(
  "add ask call check count create delete describe download execute fetch find get insert list load lookup open post put query read remove run save search send set show update upload write".split(
    " ",
  ),
);

/** The comment at the beginning of the code, on one line. Empty if there is none. */
export function commentIn(code: string): string {
  const comment = /^\s*(?:\/\*\*?[\s\S]*?\*\/|(?:\/\/[^\n]*\n)+)/.exec(code.slice(0, maxReadCommentChars))?.[0];
  if (comment === undefined) return "";
  return exportsOf(`${comment}\nexport const it = 1;`)[0]?.description ?? "";
}

/** `12 calls: orders, tickets, customers`. */
export function callsSentence(calls: number, tools: readonly CalledTool[]): string {
  const subjects = [...new Set(tools.map(({ tool }) => subjectOf(tool)))];
  if (subjects.length === 0) return calls === 0 ? "no calls" : counted(calls, "call");
  const more = subjects.length > maxNamedSubjects ? " …" : "";
  return `${counted(calls, "call")}: ${subjects.slice(0, maxNamedSubjects).join(", ")}${more}`;
}

/** `orders` for `list_orders`, and `pull requests` for `listPullRequests`. */
function subjectOf(tool: string): string {
  const words = tool
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[\s_.-]+/)
    .filter(Boolean);
  const rest = words.length > 1 && verbs.has(words[0]!) ? words.slice(1) : words;
  return rest.join(" ") || tool;
}
