/** Texts of servers, shown so that nothing hides in them; numbers and times in words. */

import { useEffect, useState } from "preact/hooks";
import { durationText } from "../../base/duration.ts";
import { visible } from "../../policy/visible.ts";

/** A text of a server or of a file, on one line and in its own direction. */
export function Text({ children }: { children: string }) {
  return <bdi>{visible(children)}</bdi>;
}

/** `server.tool`. A break may follow the dot. */
export function ToolName({ server, tool }: { server: string; tool: string }) {
  return (
    <span class="tool-name">
      <Text>{server}</Text>.<wbr />
      <Text>{tool}</Text>
    </span>
  );
}

/** Indented JSON, or code. All line breaks are real: those within texts are escaped. */
export function visibleLines(text: string): string {
  return text
    .split("\n")
    .map((line) => {
      const indent = /^ */.exec(line)?.[0] ?? "";
      return indent + visible(line.slice(indent.length));
    })
    .join("\n");
}

export function grouped(value: number): string {
  return value.toLocaleString("en");
}

export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${grouped(count)} ${count === 1 ? noun : plural}`;
}

export function ageText(ms: number): string {
  return ms < 5_000 ? "just now" : `${durationText(ms)} ago`;
}

const everyMs = 1_000;

/** The time, which changes every second. */
export function useNow(): number {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, []);
  return now;
}

/** The exact time is the title. */
export function Age({ at }: { at: number }) {
  const now = useNow();
  return (
    <time dateTime={new Date(at).toISOString()} title={new Date(at).toLocaleString()}>
      {ageText(now - at)}
    </time>
  );
}

/** The key of a command, for eyes only. */
export function Key({ children }: { children: string }) {
  return (
    <span class="key" aria-hidden="true">
      {children}
    </span>
  );
}
