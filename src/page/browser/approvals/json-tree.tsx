/** JSON as a tree that is searched. Everything in it is text: names and values cannot look like parts of the page. */
import { useMemo, useState } from "preact/hooks";
import { counted, grouped } from "../../../base/counted.ts";
import { Text, visibleLines } from "../text.tsx";

/** Members of one value that are shown before the rest is asked for. */
const maxShownMembers = 100;

/** Found places that are listed. */
const maxFound = 100;

/** Characters of a text that is shown beside its name. Longer texts have lines of their own. */
const maxInlineChars = 120;

/** Characters around what was found in a text. */
const foundContextChars = 60;

/** Levels that are open at first. */
const openLevels = 3;

/** A leaf keeps the characters of its JSON, because numbers may have more digits than JavaScript holds. */
type Node =
  | { kind: "text"; text: string }
  | { kind: "leaf"; json: string }
  | { kind: "list" | "record"; members: [string, Node][] };

type Reviver = (key: string, value: unknown, context?: { source?: string }) => unknown;

class WrittenNumber {
  readonly json: string;
  constructor(json: string) {
    this.json = json;
  }
}

/** Throws SyntaxError. Browsers that do not tell how a number was written show it as JavaScript holds it. */
export function treeOf(json: string): Node {
  const asWritten: Reviver = (_, value, context) =>
    typeof value === "number" ? new WrittenNumber(context?.source ?? String(value)) : value;
  return nodeOf(JSON.parse(json, asWritten as (key: string, value: unknown) => unknown));
}

function nodeOf(value: unknown): Node {
  if (typeof value === "string") return { kind: "text", text: value };
  if (value instanceof WrittenNumber) return { kind: "leaf", json: value.json };
  if (Array.isArray(value))
    return { kind: "list", members: value.map((each, at): [string, Node] => [String(at), nodeOf(each)]) };
  if (typeof value !== "object" || value === null) return { kind: "leaf", json: JSON.stringify(value) };
  return { kind: "record", members: Object.entries(value).map(([key, each]): [string, Node] => [key, nodeOf(each)]) };
}

export function JsonTree({ json }: { json: string }) {
  const tree = useMemo(() => treeOf(json), [json]);
  const leaves = useMemo(() => [...leavesOf(tree, "")], [tree]);
  const [sought, setSought] = useState("");
  return (
    <div class="json-tree">
      <label class="tree-search">
        <span class="hidden">Search the arguments</span>
        <input
          type="search"
          placeholder={`Search ${counted(leaves.length, "value")}`}
          autoComplete="off"
          spellcheck={false}
          value={sought}
          onInput={(event) => setSought(event.currentTarget.value)}
        />
      </label>
      {sought === "" ? <Value node={tree} level={0} /> : <Found leaves={leaves} sought={sought} />}
    </div>
  );
}

function Value({ node, level }: { node: Node; level: number }) {
  if (node.kind === "leaf") return <code class="leaf">{node.json}</code>;
  if (node.kind === "text") return <TextValue text={node.text} />;
  return <Members node={node} level={level} />;
}

function TextValue({ text }: { text: string }) {
  const isLong = text.length > maxInlineChars || text.includes("\n");
  if (!isLong) {
    return (
      <Text in="code" class="leaf">
        {JSON.stringify(text)}
      </Text>
    );
  }
  return (
    <>
      <span class="about"> text of {grouped(text.length)} characters</span>
      <pre class="long-text">{visibleLines(text)}</pre>
    </>
  );
}

function Members({ node, level }: { node: Extract<Node, { members: unknown }>; level: number }) {
  const { members, kind } = node;
  const [shown, setShown] = useState(maxShownMembers);
  const rest = members.length - shown;
  return (
    <ul class={level === 0 ? "members root" : "members"}>
      {members.slice(0, shown).map(([name, value]) => (
        <Member key={name} name={kind === "list" ? `[${name}]` : name} value={value} level={level} />
      ))}
      {rest > 0 && (
        <li>
          <button type="button" class="plain" onClick={() => setShown(members.length)}>
            Show {counted(rest, "more value")}
          </button>
        </li>
      )}
      {members.length === 0 && <li class="about">{kind === "list" ? "an empty list" : "nothing"}</li>}
    </ul>
  );
}

function Member({ name, value, level }: { name: string; value: Node; level: number }) {
  const [isOpen, setOpen] = useState(level < openLevels);
  const label = (
    <Text in="span" class="member-name">
      {name}
    </Text>
  );
  if (!("members" in value)) {
    return (
      <li>
        {label} <Value node={value} level={level + 1} />
      </li>
    );
  }
  const size = counted(value.members.length, value.kind === "list" ? "item" : "member");
  return (
    <li>
      <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          {label} <span class="about">{size}</span>
        </summary>
        {isOpen && <Value node={value} level={level + 1} />}
      </details>
    </li>
  );
}

interface Leaf {
  path: string;
  text: string;
}

function* leavesOf(node: Node, path: string): Generator<Leaf> {
  if (node.kind === "leaf") yield { path, text: node.json };
  else if (node.kind === "text") yield { path, text: node.text };
  else {
    for (const [name, value] of node.members) {
      const place = node.kind === "list" ? `${path}[${name}]` : path === "" ? name : `${path}.${name}`;
      yield* leavesOf(value, place);
    }
  }
}

function Found({ leaves, sought }: { leaves: readonly Leaf[]; sought: string }) {
  const small = sought.toLowerCase();
  const found = leaves.filter(({ path, text }) => `${path}\n${text}`.toLowerCase().includes(small));
  return (
    <>
      <p class="about" role="status">
        {grouped(found.length)} of {counted(leaves.length, "value")}
        {found.length > maxFound && `, the first ${maxFound}`}
      </p>
      <ul class="members root">
        {found.slice(0, maxFound).map(({ path, text }) => (
          <li key={path}>
            <Text in="span" class="member-name">
              {path}
            </Text>{" "}
            <code class="leaf">
              <Around text={text} sought={small} />
            </code>
          </li>
        ))}
      </ul>
    </>
  );
}

/** The found part of a text, with what is around it. */
function Around({ text, sought }: { text: string; sought: string }) {
  const at = text.toLowerCase().indexOf(sought);
  if (at < 0) return <Text>{text.slice(0, 2 * foundContextChars)}</Text>;
  const end = at + sought.length;
  return (
    <>
      {at > foundContextChars && "…"}
      <Text>{text.slice(Math.max(0, at - foundContextChars), at)}</Text>
      <Text in="mark">{text.slice(at, end)}</Text>
      <Text>{text.slice(end, end + foundContextChars)}</Text>
      {end + foundContextChars < text.length && "…"}
    </>
  );
}
