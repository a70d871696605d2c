/** Renders components as HTML that needs no script. Everything that they show is escaped here. */
import { type ComponentChildren, type FunctionComponent, isValidElement } from "preact";

/** A carriage return would be read as a line break. */
const escapes: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\r": "&#13;" };

/** These elements have no end tag. */
const voidElements = new Set(["br", "wbr"]);

/** These end with the next element, or with the element around them. Without their end tags, the page of 500 calls is a tenth smaller. */
const endedByNext = new Set(["dt", "dd", "li"]);

/** Browsers do not read the escapes in these elements, so no text in them would be safe. */
const rawElements = new Set(["script", "style"]);

/** Components must be functions without hooks. */
export function staticHtml(shown: ComponentChildren): string {
  if (Array.isArray(shown)) return shown.map((each) => staticHtml(each)).join("");
  if (shown === null || shown === undefined || typeof shown === "boolean") return "";
  if (typeof shown !== "object") return String(shown).replace(/[&<>\r]/g, (letter) => escapes[letter]!);
  // An object in a record cannot be mistaken for an element, because JSON cannot contain the mark of elements.
  if (!isValidElement(shown)) throw new Error("only texts and elements of Preact can be shown");
  const { type, props } = shown;
  if (typeof type === "function") return staticHtml((type as FunctionComponent)(props));
  if (rawElements.has(type)) throw new Error(`no component may contain the element ${type}`);
  const start = `<${type}${attributesOf(props)}>`;
  if (voidElements.has(type)) return start;
  const content = staticHtml(props.children);
  // Browsers leave out a line break after this start tag.
  const text = type === "pre" && content.startsWith("\n") ? `\n${content}` : content;
  return endedByNext.has(type) ? start + text : `${start}${text}</${type}>`;
}

/** Texts, numbers and `true` become attributes. Listeners are left out. */
function attributesOf(props: object): string {
  const attributes = Object.entries(props).map(([name, value]: [string, unknown]) => {
    if (name === "children") return "";
    if (value === true) return ` ${name}`;
    if (typeof value !== "string" && typeof value !== "number") return "";
    return ` ${name}="${String(value).replace(/[&<>"\r]/g, (letter) => escapes[letter]!)}"`;
  });
  return attributes.join("");
}
