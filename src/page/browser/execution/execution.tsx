/**
 * The content of the page of an execution. It is complete without a script, except for the details of calls. Bun renders it. Bun reads the
 * JSX settings only from the working directory, so each file that is rendered here names the library itself.
 */

/** @jsxImportSource preact */
import { type ComponentChildren, type FunctionComponent, isValidElement } from "preact";
import { counted, grouped } from "../../../base/counted.ts";
import { durationText } from "../../../base/duration.ts";
import { keptOut } from "../../../programs/outcome-text.ts";
import { mostAtOnce } from "../../../programs/trace/overlap.ts";
import type { ExecutionRecord } from "../../../programs/trace/record.ts";
import {
  configText,
  failureOf,
  outcomeWord,
  protocolsText,
  timeText,
  tookMs,
  toolOf,
} from "../../../programs/trace/record-text.ts";
import type { ExecutionHtml } from "../../contract.ts";
import { linesIn } from "../code-lines.tsx";
import { Figure, Figures, ToolTable } from "../figures.tsx";
import { Panel } from "../panel.tsx";
import { ScrolledText, Text } from "../text.tsx";
import { Code } from "./code.tsx";
import { Details, textOf } from "./details.tsx";
import { type Layout, layoutOf, rulesOf, Waterfall } from "./waterfall.tsx";

export function executionView(record: ExecutionRecord): ExecutionHtml {
  const layout = layoutOf(record);
  const body = staticHtml(<Execution record={record} layout={layout} />);
  return { title: staticHtml(titleOf(record)), body, rules: rulesOf(layout) };
}

interface ExecutionProps {
  record: ExecutionRecord;
  layout: Layout;
}

function Execution({ record, layout }: ExecutionProps) {
  return (
    <main>
      <Header record={record} />
      <Failure record={record} />
      <Overview record={record} />
      <Calls record={record} layout={layout} />
      <Code record={record} byLine={layout.byLine} />
      <Returned record={record} />
      <Logs record={record} />
      <Receipt record={record} />
    </main>
  );
}

interface RecordProps {
  record: ExecutionRecord;
}

function titleOf({ calls, durationMs }: ExecutionRecord): string {
  return `${counted(calls, "call")} in ${durationText(durationMs)}`;
}

function Header({ record }: RecordProps) {
  const { id, startedBy, config, door, at, ok, repeats } = record;
  const protocols = protocolsText(record);
  return (
    <header>
      <div>
        <p class="brand">claudikins execution</p>
        <h1>
          {titleOf(record)} <span class={`badge ${ok ? "ok" : "failed"}`}>{outcomeWord(record)}</span>
        </h1>
        <p class="about">
          {startedBy} · <Text>{configText(config)}</Text>
          {door !== undefined && (
            <>
              , door <Text>{door}</Text>
            </>
          )}{" "}
          · {timeText(at)} · {id}
          {repeats !== undefined && ` · run again from ${repeats}`}
        </p>
        {protocols !== "" && (
          <Text in="p" class="about">
            {protocols}
          </Text>
        )}
      </div>
      {/* Hidden until the script shows it. */}
      <button type="button" id="theme" hidden>
        Dark
      </button>
    </header>
  );
}

function Failure({ record }: RecordProps) {
  const { error } = record;
  if (!error) return null;
  const { line, hint } = error;
  return (
    <section class="panel failure" aria-label="Failure">
      <p>
        <strong>{failureOf(record)}</strong>
        {line !== undefined && " "}
        {line !== undefined && <a href={`#L${line}`}>line {line}</a>}
      </p>
      {hint !== undefined && <p class="hint">{hint}</p>}
    </section>
  );
}

function Overview({ record }: RecordProps) {
  const { calls, failures, durationMs, beforeMs, charsIn, charsOut, code, timeline } = record;
  const most = mostAtOnce(timeline);
  const callsMore = [
    ...(most > 1 ? [`${grouped(most)} at once`] : []),
    ...(failures > 0 ? [`${grouped(failures)} failed`] : []),
  ];
  const timeMore = beforeMs >= 1 ? `after ${durationText(beforeMs)} of fetching tools` : "to run the code";
  const keptMore = `of ${grouped(charsIn)} characters; ${grouped(charsOut)} were returned`;
  return (
    <Figures>
      <Figure name="Calls" value={grouped(calls)} more={callsMore.join(", ") || "none failed"} />
      <Figure name="Time" value={durationText(durationMs)} more={timeMore} />
      <Figure name="Kept out of the context" value={grouped(keptOut(record))} more={keptMore} />
      <Figure name="Code" value={counted(code.lines, "line")} more={`${grouped(code.chars)} characters`} />
    </Figures>
  );
}

function Calls({ record, layout }: ExecutionProps) {
  const { shown, byLine } = layout;
  const { text } = record.code;
  const lines = text === undefined ? undefined : linesIn(text);
  const hasLine = (line: number | undefined) =>
    line !== undefined && (lines === undefined ? byLine.has(line) : line >= 1 && line <= lines);
  return (
    <Panel id="s-calls" title="Calls">
      {shown.length === 0 ? (
        <p class="about">The code called no tools.</p>
      ) : (
        <div class="with-details">
          <Waterfall record={record} layout={layout} />
          <aside id="details" class="details" aria-label="The selected call" aria-live="polite">
            <button type="button" class="close">
              Close
            </button>
            <div id="selected">
              <p class="about">To see a call's details, point at it or use the arrow keys.</p>
            </div>
          </aside>
          <template id="unrecorded">
            <p class="about">Contents were not recorded. To record them, use --record.</p>
          </template>
        </div>
      )}
      {shown.map(([place, call], row) => (
        <template id={`d${row}`} key={place}>
          <Details call={call} place={place} hasLine={hasLine(call.line)} />
        </template>
      ))}
    </Panel>
  );
}

function Returned({ record: { value } }: RecordProps) {
  if (!value) return null;
  return (
    <Panel id="s-returned" title="Returned">
      <ScrolledText>{textOf(value)}</ScrolledText>
      {!value.isWhole && <p class="about">Only the beginning was recorded.</p>}
    </Panel>
  );
}

function Logs({ record: { logs } }: RecordProps) {
  if (logs.lines === 0) return null;
  return (
    <Panel id="s-logs" title="Logs">
      {logs.entries ? (
        <ol class="logs">
          {logs.entries.map(({ level, text }, place) => (
            <li key={`${place} ${level}`}>
              <span class={`level level-${level}`}>{level}</span>
              <span class="text">{text}</span>
            </li>
          ))}
        </ol>
      ) : (
        <p class="about">
          {counted(logs.lines, "line")}, {grouped(logs.chars)} characters
        </p>
      )}
    </Panel>
  );
}

function Receipt({ record: { timeline, receipt, moreCalls } }: RecordProps) {
  if (timeline.length === 0) return null;
  const rows = [...Map.groupBy(timeline, toolOf).values()].map((calls) => {
    const sum = (pick: (call: (typeof calls)[number]) => number) => calls.reduce((all, call) => all + pick(call), 0);
    const failed = calls.filter(({ outcome }) => outcome === "failed").length;
    const { server, tool } = calls[0]!;
    const chars = sum(({ resultChars }) => resultChars);
    const numbers = [
      grouped(calls.length),
      failed > 0 ? grouped(failed) : "",
      durationText(sum(tookMs)),
      grouped(chars),
    ];
    return { server, tool, numbers };
  });
  return (
    <Panel id="s-receipt" title="Receipt">
      <Scrolled label="Receipt">
        <ToolTable columns={["Calls", "Failed", "Total time", "Result characters"]} rows={rows} />
      </Scrolled>
      {moreCalls > 0 && <p class="about">Only the first {grouped(timeline.length)} calls are included.</p>}
      <p class="about">Receipt id: {receipt}</p>
    </Panel>
  );
}

function Scrolled({ label, children }: { label: string; children: ComponentChildren }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it is scrolled with the arrow keys.
    <section class="scroll" tabIndex={0} aria-label={label}>
      {children}
    </section>
  );
}

/** A carriage return would be read as a line break. */
const escapes: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\r": "&#13;" };

/** These elements have no end tag. */
const voidElements = new Set(["br", "wbr"]);

/** These end with the next element, or with the element around them. Without their end tags, the page of 500 calls is a tenth smaller. */
const endedByNext = new Set(["dt", "dd", "li"]);

/** Browsers do not read the escapes in these elements, so no text in them would be safe. */
const rawElements = new Set(["script", "style"]);

/** Components must be functions without hooks. */
function staticHtml(shown: ComponentChildren): string {
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
