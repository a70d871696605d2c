/** One execution in a list: its state, what it is, who asked for it, the tools that it called, and its time on a common scale. */
import { counted, grouped } from "../../../base/counted.ts";
import { durationText } from "../../../base/duration.ts";
import { visible } from "../../../policy/hidden-characters.ts";
import type { PageExecution } from "../../activity-contract.ts";
import { Age, barShare, shortTime, useNow } from "../age.tsx";
import { FittedName, shortened, Text } from "../text.tsx";

/** Characters of a folder in a row. */
const shownFolderChars = 32;

/** Servers that a row names. */
const maxMarks = 2;

/** The state in words, with the time if the execution waits for a timer. */
export function StateWords({ execution: { kind, stateText, until, isDryRun } }: { execution: PageExecution }) {
  return (
    <span class={`outcome ${kind}`}>
      {isDryRun && "dry run, "}
      <Text>{stateText}</Text>
      {until !== undefined && (
        <>
          {" "}
          until <time dateTime={new Date(until).toISOString()}>{shortTime(until, Date.now())}</time>
        </>
      )}
    </span>
  );
}

/** The agent or the command, and where it works. */
export function placeText({ agent, startedBy, folder, door, person }: PageExecution): string {
  const by = agent ?? (startedBy === "serve" ? "an agent" : startedBy);
  return [by, folder && shortened(folder, shownFolderChars), door && `door ${door}`, person && `for ${person}`]
    .filter(Boolean)
    .join(" · ");
}

/** The whole folder, for the title of what `placeText` shortens. */
export function placeTitle({ folder }: PageExecution): string | undefined {
  return folder === undefined ? undefined : visible(folder);
}

/** The called servers as small marks. The tools are the title. */
export function ToolMarks({ tools }: Pick<PageExecution, "tools">) {
  const servers = [...Map.groupBy(tools, ({ server }) => server)];
  const more = servers.length - maxMarks;
  const title = tools.map(({ server, tool, calls }) => `${server}.${tool}${calls > 1 ? ` × ${grouped(calls)}` : ""}`);
  return (
    <span class="marks" title={title.join("\n")}>
      {servers.slice(0, maxMarks).map(([server]) => (
        <Text key={server} in="span" class="mark">
          {server}
        </Text>
      ))}
      {more > 0 && <span class="mark">+{more}</span>}
    </span>
  );
}

/** A bar on the scale that all rows share, with the time. The time of an execution that has not ended grows. */
export function DurationBar({ execution: { isOver, startedAt, durationMs, kind } }: { execution: PageExecution }) {
  if (durationMs !== undefined) return <Took ms={durationMs} kind={kind} />;
  return isOver ? <span class="took" /> : <Taking startedAt={startedAt} kind={kind} />;
}

function Taking({ startedAt, kind }: Pick<PageExecution, "startedAt" | "kind">) {
  return <Took ms={useNow() - startedAt} kind={kind} />;
}

function Took({ ms, kind }: { ms: number; kind: PageExecution["kind"] }) {
  return (
    <span class="took">
      <span class="track" aria-hidden="true">
        <span class={`bar ${kind}`} style={{ width: `${barShare(ms) * 100}%` }} />
      </span>
      <span class="amount">{durationText(ms)}</span>
    </span>
  );
}

/** The parts of a row. The list around it is a grid on wide screens. */
export function RowContent({ execution }: { execution: PageExecution }) {
  const { title, failures, denied, startedAt } = execution;
  return (
    <>
      <span class={`dot ${execution.kind}`} aria-hidden="true" />
      <span class="cell-state">
        <StateWords execution={execution} />
      </span>
      <span class="cell-title">
        <Text>{title}</Text>
        {failures ? <span class="failed-calls"> {counted(failures, "call")} failed</span> : null}
        {denied ? <span class="failed-calls"> {counted(denied, "call")} denied</span> : null}
      </span>
      <ToolMarks tools={execution.tools} />
      <span class="cell-place about" title={placeTitle(execution)}>
        <FittedName>{placeText(execution)}</FittedName>
      </span>
      <DurationBar execution={execution} />
      <span class="cell-age about">
        <Age at={startedAt} />
      </span>
    </>
  );
}
