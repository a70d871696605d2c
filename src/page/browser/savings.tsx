/** The characters that claudikins kept out of the context in the last days, from the ledger. */
import { counted, grouped } from "../../base/counted.ts";
import { durationText } from "../../base/duration.ts";
import type { Savings } from "../contract.ts";
import { Figure, Figures, ToolTable } from "./figures.tsx";
import { Panel } from "./panel.tsx";

export function SavingsView({ savings }: { savings: Savings }) {
  const { days, keptOut, without, sessions, executions, shellExecutions, searches, calls, failures, tools, problems } =
    savings;
  const isEmpty = calls + executions + shellExecutions + sessions + searches === 0;
  const fromShell = shellExecutions > 0 ? [`${grouped(shellExecutions)} from a shell`] : [];
  const share = without > 0 && keptOut > 0 ? `${Math.floor((100 * keptOut) / without)} % of ${grouped(without)}` : "";
  return (
    <Panel id="savings" title={`Tokens saved in the last ${days.length} days`}>
      {problems.map((problem) => (
        <p class="warning" key={problem}>
          {problem}
        </p>
      ))}
      {isEmpty ? (
        <p class="empty">
          Nothing has been counted yet. The ledger counts calls and characters, and stores no contents.
        </p>
      ) : (
        <>
          <Figures>
            <Figure name="Tokens kept out of the context" value={grouped(keptOut)} more={share} />
            <Figure
              name="Calls"
              value={grouped(calls)}
              more={failures > 0 ? `${grouped(failures)} failed` : "none failed"}
            />
            <Figure
              name="Executions"
              value={grouped(executions)}
              more={[...fromShell, counted(searches, "search", "searches")].join(", ")}
            />
            <Figure name="Sessions" value={grouped(sessions)} more="of agents" />
          </Figures>
          <Chart days={days} />
          {tools.length > 0 && (
            <ToolTable
              caption="Most called tools"
              columns={["Calls", "Failed", "Time"]}
              rows={tools.map(({ server, tool, calls, failures, durationMs }) => ({
                server,
                tool,
                numbers: [grouped(calls), failures > 0 ? grouped(failures) : "", durationText(durationMs)],
              }))}
            />
          )}
          <p class="about">
            {
              "Tokens are estimated at 4.6 characters per token for definitions, and at 4 for everything else. All your projects are included."
            }
          </p>
        </>
      )}
    </Panel>
  );
}

function Chart({ days }: { days: Savings["days"] }) {
  const most = Math.max(1, ...days.map(({ keptOut }) => keptOut));
  return (
    <figure class="chart">
      <figcaption>Tokens kept out, by day</figcaption>
      <ol>
        {days.map(({ day, keptOut, calls }) => (
          <li key={day} title={`${day}: ${grouped(keptOut)} tokens, ${grouped(calls)} calls`}>
            <span class="bar" style={{ height: `${Math.max(keptOut > 0 ? 2 : 0, (100 * keptOut) / most)}%` }} />
            <span class="hidden">
              {day}: {grouped(keptOut)} tokens, {grouped(calls)} calls
            </span>
          </li>
        ))}
      </ol>
      <p class="axis" aria-hidden="true">
        <span>{days[0]?.day}</span>
        <span>{days.at(-1)?.day}</span>
      </p>
    </figure>
  );
}
