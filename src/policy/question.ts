/** The question whether a tool may be called, as a person reads it: nothing of a call is hidden, and no argument can look like ours. */

export interface Question {
  server: string;
  tool: string;
  args: object;
  /** Why somebody is asked. */
  why: string;
}

export function questionText({ server, tool, args, why }: Question): string {
  const json = JSON.stringify(args, null, 2);
  // Of JSON each line break and each indent is ours.
  const lines = json.split("\n").map((line) => {
    const indent = /^ */.exec(line)?.[0] ?? "";
    return `    ${indent}${visible(line.slice(indent.length))}`;
  });
  const withArgs = json === "{}" ? ["It gets no arguments."] : ["It gets these arguments:", "", ...lines, ""];
  return [`May ${nameText(server)}.${nameText(tool)} be called?`, `You are asked because ${why}.`, ...withArgs].join(
    "\n",
  );
}

/** As it is, where it is a plain word. */
function nameText(name: string): string {
  return /^[\w.-]+$/.test(name) ? name : visible(JSON.stringify(name));
}

/**
 * What has no looks of its own, changes those of others, or pushes them out of sight: control characters, marks of direction,
 * fillers and blanks, the third space in a row, and marks that pile up.
 */
const unseen = /[\p{C}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}\u2800]|(?! )\p{Zs}|(?<= {2}) |(?<=\p{M}{4})\p{M}/gu;

function visible(text: string): string {
  return text.replace(unseen, (found) => {
    const code = found.codePointAt(0)!.toString(16);
    return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, "0")}`;
  });
}
