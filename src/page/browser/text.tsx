/** Texts of servers, shown so that nothing hides in them. */

/** @jsxImportSource preact */
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

/** A text of many lines, unchanged. */
export function ScrolledText({ class: name, children }: { class?: string; children: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it is scrolled with the arrow keys.
    <pre class={name} tabIndex={0}>
      {children}
    </pre>
  );
}

/** Indented JSON, or code. All line breaks are real: those within texts are escaped. */
export function visibleLines(text: string): string {
  return text
    .split("\n")
    .map((line) => {
      const indent = /^[ \t]*/.exec(line)?.[0] ?? "";
      return indent + visible(line.slice(indent.length));
    })
    .join("\n");
}

/** The key of a command. Screen readers skip it. */
export function Key({ children }: { children: string }) {
  return (
    <span class="key" aria-hidden="true">
      {children}
    </span>
  );
}
