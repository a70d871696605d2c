/** Texts of servers, shown so that nothing hides in them. */

/** @jsxImportSource preact */
import { type ComponentChildren, createElement, type JSX } from "preact";
import { visible } from "../../policy/hidden-characters.ts";

interface TextProps {
  /** The element that has the text. */
  in?: keyof JSX.IntrinsicElements;
  class?: string;
  children: string;
}

/** A text of a server or of a file, on one line and in its own direction. */
export function Text({ in: element, class: name, children }: TextProps) {
  const text = <bdi>{visible(children)}</bdi>;
  return element === undefined ? text : createElement(element, name === undefined ? null : { class: name }, text);
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

/** Characters of a name up to which it is shown in one piece, and the ones at its end that stay when it is shortened. */
const [wholeNameChars, nameEndChars] = [24, 8];

/** `server.tool` on one line. Each name is shortened in its middle, as far as the line is too short. */
export function FittedToolName({ server, tool }: { server: string; tool: string }) {
  return (
    <span class="tool-name fitted" title={visible(`${server}.${tool}`)}>
      <FittedName>{server}</FittedName>.<FittedName>{tool}</FittedName>
    </span>
  );
}

/** A text on one line, without its middle as far as the line is too short. */
export function FittedName({ children }: { children: string }) {
  const letters = Array.from(visible(children));
  if (letters.length <= wholeNameChars) return <bdi>{letters.join("")}</bdi>;
  return (
    <span class="fitted-name">
      <bdi>{letters.slice(0, -nameEndChars).join("")}</bdi>
      <bdi>{letters.slice(-nameEndChars).join("")}</bdi>
    </span>
  );
}

const natural = new Intl.Collator(undefined, { numeric: true });

/** The order of names in which `list_2` comes before `list_10`. */
export const compareNames = (one: string, other: string) => natural.compare(one, other);

/** A text without its middle if it is longer than `chars`. Its beginning and its end stay. */
export function shortened(text: string, chars: number): string {
  const letters = Array.from(text);
  if (letters.length <= chars) return text;
  const end = Math.floor((chars - 1) / 2);
  return `${letters.slice(0, chars - 1 - end).join("")}…${letters.slice(-end).join("")}`;
}

interface QuotedProps {
  /** Names the speaker or the subject, if nothing above the quotation does. */
  caption?: ComponentChildren;
  children: ComponentChildren;
}

/** A text of a server or a program as a quotation, so that it is not taken for a sentence of this page. */
export function Quoted({ caption, children }: QuotedProps) {
  return (
    <figure class="quoted">
      {caption !== undefined && <figcaption>{caption}</figcaption>}
      <blockquote>{children}</blockquote>
    </figure>
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

/** The name of a view or a tab, as wide as it is when it is chosen. */
export function TabName({ children }: { children: string }) {
  return (
    <span class="tab-name" data-name={children}>
      {children}
    </span>
  );
}

/** The key of a command. Screen readers skip it. */
export function Key({ children }: { children: string }) {
  return (
    <span class="key" aria-hidden="true">
      {children}
    </span>
  );
}

export function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
