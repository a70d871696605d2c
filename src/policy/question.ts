/** The question whether a tool may be called. It is short enough to be read, and no argument can imitate its own lines. */

import { maxQuestionNameChars, maxWhyChars } from "./limits.ts";
import { argumentLines, brokenLines, halves, notShown } from "./shown-arguments.ts";
import { visible } from "./visible.ts";

export interface Question {
  server: string;
  tool: string;
  args: object;
  /** Why the person is asked. */
  why: string;
  /** The parts of the tool that changed since the person last allowed it. Undefined if nothing changed. */
  changed?: readonly string[] | undefined;
}

export function questionText({ server, tool, args, why, changed }: Question): string {
  const name = `${nameText(server)}.${nameText(tool)}`;
  const { lines, leftOut } = argumentLines(args);
  return [
    `Allow the call to ${name}?`,
    `You are asked because ${shortened(why, maxWhyChars)}.`,
    ...(changed ? [changeText(changed)] : []),
    ...(lines.length === 0 ? ["It has no arguments."] : ["Its arguments:", "", ...lines, ""]),
    // Repeated at the end, because the first line may have left the screen.
    ...(leftOut.characters > 0 ? [`Allow the call to ${name}? ${notShown(leftOut, " of its arguments")} above.`] : []),
  ].join("\n");
}

/** As `questionText`, with all arguments. `json` are the arguments as indented JSON, or the beginning of it. */
export function wholeQuestionText(
  { server, tool, why, changed }: Omit<Question, "args">,
  json: string,
  width: number,
): string {
  return [
    `Allow the call to ${nameText(server)}.${nameText(tool)}?`,
    `You are asked because ${shortened(why, maxWhyChars)}.`,
    ...(changed ? [changeText(changed)] : []),
    ...(json === "{}" ? ["It has no arguments."] : ["Its arguments:", "", ...brokenLines(json, width), ""]),
  ].join("\n");
}

function changeText(changed: readonly string[]): string {
  const parts = changed.length > 0 ? `: ${changed.join(", ")}` : "";
  return `The tool has changed since you allowed it${parts}. Your earlier approval no longer applies.`;
}

/** Plain words are not quoted. */
function nameText(name: string): string {
  return shortened(/^[\w.-]+$/.test(name) ? name : visible(JSON.stringify(name)), maxQuestionNameChars);
}

/** Both ends of the text, and how much is left out between them. */
function shortened(text: string, most: number): string {
  const shown = visible(text);
  if (shown.length <= most) return shown;
  const { head, tail, leftOut } = halves(shown, most);
  return `${head} (${notShown({ characters: leftOut, isExact: true })}) ${tail}`;
}
