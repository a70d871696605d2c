/** What was called, how long it took and what it cost: totals, a chart over the chosen time, and tables that can be put in order. */
import { useState } from "preact/hooks";
import { counted, grouped } from "../../../base/counted.ts";
import { durationText } from "../../../base/duration.ts";
import type { PageFigures } from "../../activity-contract.ts";
import { Figure, Figures } from "../figures.tsx";
import { useLoaded } from "../notice.tsx";
import { TabName, Text } from "../text.tsx";
import { Chart } from "./chart.tsx";
import { FigureTables } from "./tables.tsx";

const spans = { "1": "Today", "7": "7 days", "30": "30 days", "90": "90 days", all: "All" } as const;
export type Span = keyof typeof spans;

interface FiguresViewProps {
  /** Changes when something was called. */
  mark: string;
  span: Span;
  onSpan(span: Span): void;
  /** Shows the calls of a tool. */
  onTool(tool: string): void;
}

export function FiguresView({ mark, span, onSpan, onTool }: FiguresViewProps) {
  const [turn, setTurn] = useState(0);
  const [figures] = useLoaded<PageFigures>(`figures?days=${span}`, turn);
  const [readAt, setReadAt] = useState(mark);
  return (
    <section class="panel" aria-labelledby="figures">
      <div class="figures-head">
        <h2 id="figures">Figures</h2>
        <span class="tabs">
          {Object.entries(spans).map(([each, title]) => (
            <button key={each} type="button" aria-pressed={each === span} onClick={() => onSpan(each as Span)}>
              <TabName>{title}</TabName>
            </button>
          ))}
        </span>
        {mark !== readAt && (
          <button
            type="button"
            class="plain"
            onClick={() => {
              setReadAt(mark);
              setTurn(turn + 1);
            }}
          >
            There is more: read again
          </button>
        )}
      </div>
      {figures ? (
        <Shown figures={figures} onAll={() => onSpan("all")} onTool={onTool} />
      ) : (
        <p class="about">Adding up …</p>
      )}
    </section>
  );
}

interface ShownProps extends Pick<FiguresViewProps, "onTool"> {
  figures: PageFigures;
  onAll(): void;
}

function Shown({ figures, onAll, onTool }: ShownProps) {
  const { total, periods, problems, lastBefore } = figures;
  const { sessions, executions, shellExecutions, searches, calls, failures, denied, durationMs, keptOut, without } =
    total;
  const isEmpty = calls + executions + shellExecutions + sessions + searches === 0;
  const share = without > 0 && keptOut > 0 ? `${Math.floor((100 * keptOut) / without)} % of ${grouped(without)}` : "";
  const origins =
    shellExecutions > 0 ? [`${grouped(executions)} of agents, ${grouped(shellExecutions)} from a shell`] : [];
  return (
    <>
      {problems.map((problem) => (
        <p class="warning" key={problem}>
          <Text>{problem}</Text>
        </p>
      ))}
      {isEmpty && lastBefore === undefined && (
        <p class="empty">
          Nothing has been counted yet. The ledger counts calls and characters, and stores no contents.
        </p>
      )}
      {isEmpty && lastBefore !== undefined && (
        <p class="empty">
          Nothing was called in this time. The last calls were in {lastBefore}.{" "}
          <button type="button" onClick={onAll}>
            Show all
          </button>
        </p>
      )}
      {!isEmpty && (
        <>
          <Figures>
            <Figure name="Tokens kept out of the context" value={grouped(keptOut)} more={share} />
            <Figure
              name="Calls"
              value={grouped(calls)}
              more={[
                failures > 0 ? `${grouped(failures)} failed` : "none failed",
                ...(denied > 0 ? [`${grouped(denied)} denied`] : []),
                `${durationText(durationMs)} in tools`,
              ].join(", ")}
            />
            <Figure
              name="Executions"
              value={grouped(executions + shellExecutions)}
              more={[...origins, counted(searches, "search", "searches")].join(", ")}
            />
            <Figure name="Sessions" value={grouped(sessions)} more="of agents" />
          </Figures>
          <Chart periods={periods} />
          <FigureTables figures={figures} onTool={onTool} />
          <p class="about">
            Tokens are estimated at 4.6 characters per token for definitions, and at 4 for everything else. All your
            projects are included. In a terminal: <code>claudikins stats</code>, <code>claudikins calls figures</code>
          </p>
        </>
      )}
    </>
  );
}
