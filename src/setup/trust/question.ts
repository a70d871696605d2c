/** The question whether to trust a config: lists what it would do, or what has changed since it was trusted. */
import type { TrustRequest } from "../../config/trust/not-trusted.ts";
import type { TrustLine } from "../../config/trust/store.ts";
import { visible } from "../../policy/hidden-characters.ts";
import { linesOf } from "./lines.ts";

export interface TrustChange {
  sign: "+" | "-";
  line: TrustLine;
}

/** Undefined if the config was never trusted. */
export function changesOf({ config, before }: Pick<TrustRequest, "config" | "before">): TrustChange[] | undefined {
  if (!before) return undefined;
  const now = linesOf(config);
  const old = before.lines;
  const isIn = (line: TrustLine, lines: readonly TrustLine[]) => lines.some((each) => keyOf(each) === keyOf(line));
  return [
    ...old.filter((line) => !isIn(line, now)).map((line): TrustChange => ({ sign: "-", line })),
    ...now.filter((line) => !isIn(line, old)).map((line): TrustChange => ({ sign: "+", line })),
  ];
}

/** Ends with a line break. Texts of the config are escaped, so that they cannot imitate our lines or move the cursor. */
export function trustQuestion(request: TrustRequest): string {
  const { file, config } = request;
  const changes = changesOf(request);
  const lines: TrustChange[] = changes ?? linesOf(config).map((line) => ({ sign: "+", line }));
  const head = changes
    ? `${visible(file)} has changed since you trusted it. Differences (- before, + now):`
    : `${visible(file)} is not trusted yet. If you trust it, claudikins will:`;
  if (!changes || lines.length > 0) lines.push(...ownLines(request).map((line): TrustChange => ({ sign: "+", line })));
  if (lines.length === 0) return `${visible(file)} has changed only in settings that need no trust.\n`;
  const parts = Map.groupBy(lines, ({ line }) => line.part);
  const text = [...parts].map(([part, group]) => {
    const [others, secrets] = [group.filter((each) => !isHiddenTwin(each, group)), group.filter(isSecretOf(group))];
    const shown = [
      ...others.map(({ sign, line }) => `    ${changes ? `${sign} ` : ""}${line.label}: ${visible(line.text)}`),
      ...secrets.map(({ line }) => `    ${line.label}: ${visible(line.text)} (a hidden value has changed)`),
    ];
    return `  ${visible(part)}\n${shown.join("\n")}`;
  });
  return `${head}\n\n${text.join("\n")}\n\n`;
}

/** The effects of the config on the user's own servers. They depend on another file, so they are not recorded with the trust. */
export function ownLines({ own: { added, replaced } }: Pick<TrustRequest, "own">): TrustLine[] {
  const line = (label: string, names: string[]): TrustLine[] => {
    return names.length === 0 ? [] : [{ part: "your own servers", label, text: names.join(", "), digest: "" }];
  };
  return [...line("can be used here too", added), ...line("are replaced by the project's", replaced)];
}

/** Whether another line looks the same, because the part that has changed is hidden. */
function isHiddenTwin({ sign, line }: TrustChange, group: readonly TrustChange[]): boolean {
  return group.some((other) => other.sign !== sign && other.line.label === line.label && other.line.text === line.text);
}

const isSecretOf = (group: readonly TrustChange[]) => (each: TrustChange) =>
  each.sign === "+" && isHiddenTwin(each, group);

function keyOf({ part, label, text, digest }: TrustLine): string {
  return JSON.stringify([part, label, text, digest]);
}
