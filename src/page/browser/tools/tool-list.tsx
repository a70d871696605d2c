/** The list of tools: as long as it is, only what is in the window is drawn. One row has the Tab stop, and arrows move it. */
import { useCallback, useMemo, useRef } from "preact/hooks";
import { grouped } from "../../../base/counted.ts";
import { visible } from "../../../policy/hidden-characters.ts";
import { Age } from "../age.tsx";
import { useWindowRoving } from "../roving.ts";
import { FittedToolName, Text } from "../text.tsx";
import { keptUnchanged, useIsWide, useWindowRows } from "../window-rows.ts";
import type { States } from "./change-states.ts";
import type { Line, ListedTool } from "./found-tools.ts";
import { StateChoice } from "./state-choice.tsx";

/** Width from which a row is one line, and the heights of rows, in pixels. A found tool has a line for its signature. */
const [oneLinePixels, lowRowPixels, highRowPixels, foundRowPixels] = [760, 40, 72, 64];

interface ToolListProps {
  lines: readonly Line[];
  shown: string | undefined;
  chosen: ReadonlySet<string>;
  canChange: boolean;
  states: States;
  onShow(key: string): void;
  /** Takes the chosen keys, or what makes them of those that are chosen. */
  onChoose(chosen: ReadonlySet<string> | ((known: ReadonlySet<string>) => ReadonlySet<string>)): void;
}

const idOf = (line: Line) => ("tool" in line ? line.tool.key : undefined);

export function ToolList({ lines, shown, chosen, canChange, states, onShow, onChoose }: ToolListProps) {
  const list = useRef<HTMLUListElement>(null);
  const isWide = useIsWide(list, oneLinePixels);
  const isFound = lines.some((line) => "heading" in line);
  const rowPixels = isWide ? (isFound ? foundRowPixels : lowRowPixels) : highRowPixels;
  const drawn = useWindowRows(list, lines.length, rowPixels);
  const ids = useMemo(() => lines.map(idOf), [lines]);
  const { stop, setCurrent, onKeyDown } = useWindowRoving(list, ids, drawn.scrollTo);
  const all = useMemo(() => ids.filter((id) => id !== undefined), [ids]);
  const isAll = useMemo(() => all.length > 0 && all.every((id) => chosen.has(id)), [all, chosen]);
  const toggle = useCallback(
    (id: string) =>
      onChoose((known) => {
        const next = new Set(known);
        if (!next.delete(id)) next.add(id);
        return next;
      }),
    [onChoose],
  );
  return (
    <div class={`tool-list ${isWide ? "wide" : "high"} ${isFound ? "found" : ""} ${canChange ? "" : "fixed"}`}>
      <div class="tool-head about">
        {canChange && (
          <input
            type="checkbox"
            aria-label="Choose all tools of the list"
            checked={isAll}
            onChange={() => onChoose(new Set(isAll ? [] : all))}
          />
        )}
        {isWide && (
          <>
            <span aria-hidden="true">State</span>
            <span aria-hidden="true">Tool</span>
            <span aria-hidden="true">Description</span>
            <span aria-hidden="true">Labels and rules</span>
            <span class="number" aria-hidden="true">
              Calls, 7 days
            </span>
            <span class="number" aria-hidden="true">
              Last
            </span>
          </>
        )}
      </div>
      <ul class="activity-rows" ref={list} style={{ height: `${drawn.height}px` }} onKeyDown={onKeyDown}>
        {lines.slice(drawn.from, drawn.end).map((line, at) => {
          const [place, id] = [drawn.from + at, idOf(line)];
          return (
            <DrawnLine
              key={id ?? `line ${place}`}
              line={line}
              place={place}
              total={lines.length}
              pixels={rowPixels}
              isShown={id !== undefined && id === shown}
              isChosen={id !== undefined && chosen.has(id)}
              isStop={id !== undefined && id === stop}
              canChange={canChange}
              states={states}
              onFocus={setCurrent}
              onShow={onShow}
              onToggle={toggle}
            />
          );
        })}
      </ul>
    </div>
  );
}

interface RowProps {
  isShown: boolean;
  isChosen: boolean;
  isStop: boolean;
  canChange: boolean;
  states: States;
  /** These get the key of the tool. */
  onFocus(key: string): void;
  onShow(key: string): void;
  onToggle(key: string): void;
}

interface DrawnLineProps extends RowProps {
  line: Line;
  /** The place in the list, from 0. */
  place: number;
  total: number;
  pixels: number;
}

const DrawnLine = keptUnchanged(({ line, place, total, pixels, ...row }: DrawnLineProps) => (
  <li
    aria-setsize={total}
    aria-posinset={place + 1}
    style={{ height: `${pixels}px`, transform: `translateY(${place * pixels}px)` }}
  >
    {"heading" in line && (
      <Text in="h3" class="tool-heading about">
        {line.heading}
      </Text>
    )}
    {"other" in line && (
      <div class="tool-row other">
        <span class="rank">{line.rank}</span>
        <span class="cell-tool">
          <Text>{line.other.id}</Text> <span class="badge">{line.other.kind}</span>
          <Text in="span" class="signature">
            {line.other.signature}
          </Text>
        </span>
      </div>
    )}
    {"tool" in line && <Row tool={line.tool} {...row} />}
  </li>
));

function Row({
  tool,
  isShown,
  isChosen,
  isStop,
  canChange,
  states,
  onFocus,
  onShow,
  onToggle,
}: RowProps & { tool: ListedTool }) {
  const { key, row, use, rank, signature } = tool;
  const { server, name, shownAs, description, state, effect, labels, rules, isEdited } = row;
  const tabIndex = isStop ? 0 : -1;
  const called = `${visible(server)}.${visible(name)}`;
  return (
    <div class={`tool-row ${state}`} aria-current={isShown ? "true" : undefined} onFocusIn={() => onFocus(key)}>
      {canChange && (
        <input
          type="checkbox"
          aria-label={`Choose ${called}`}
          tabIndex={tabIndex}
          checked={isChosen}
          onChange={() => onToggle(key)}
        />
      )}
      <StateChoice tool={row} tabIndex={tabIndex} canChange={canChange} states={states} />
      <button
        type="button"
        class="cell-tool"
        aria-label={called}
        tabIndex={tabIndex}
        data-item={key}
        onClick={() => onShow(key)}
      >
        {rank !== undefined && <span class="rank">{rank}</span>}
        <FittedToolName server={server} tool={name} />
        {signature !== undefined && (
          <Text in="span" class="signature">
            {signature}
          </Text>
        )}
      </button>
      <Text in="span" class="about cell-description">
        {description}
      </Text>
      <span class="marks">
        {shownAs !== undefined && (
          <span class="mark" title="The name for agents">
            <Text>{`is ${shownAs}`}</Text>
          </span>
        )}
        {shownAs === undefined && isEdited && <span class="mark">edited</span>}
        {effect === "destroys" && (
          <span class="mark destroys" title="The server says so, or does not deny it">
            may destroy
          </span>
        )}
        {labels.map((label) => (
          <span key={label} class="mark">
            {label}
          </span>
        ))}
        {rules.length > 0 && (
          <span class="mark" title={rules.map(({ line, text }) => `${line}: ${visible(text)}`).join("\n")}>
            {rules.length === 1 ? "rule" : `${rules.length} rules`}
          </span>
        )}
      </span>
      <span class="number cell-calls">
        {use && use.failures > 0 && (
          <span class="failed-calls" title={`${grouped(use.failures)} of ${grouped(use.calls)} failed`}>
            {Math.max(1, Math.round((100 * use.failures) / use.calls))} %
          </span>
        )}{" "}
        {use && grouped(use.calls)}
      </span>
      <span class="number about">{use && <Age at={use.lastAt} />}</span>
    </div>
  );
}
