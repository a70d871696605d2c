/** What claudikins kept out of the context in the last days, from the ledger. */
import { durationText } from "../../base/duration.ts";
import type { Savings } from "../contract.ts";
import { counted, grouped, ToolName } from "./text.tsx";

export function SavingsView({ savings }: { savings: Savings }) {
  const { days, keptOut, without, sessions, executions, shellExecutions, searches, calls, failures, tools, problems } =
    savings;
  const isEmpty = calls + executions + shellExecutions + sessions + searches === 0;
  const fromShell = shellExecutions > 0 ? [`${grouped(shellExecutions)} from a shell`] : [];
  const share = without > 0 && keptOut > 0 ? `${Math.floor((100 * keptOut) / without)} % of ${grouped(without)}` : "";
  return (
    <section class="panel" aria-labelledby="savings">
      <h2 id="savings">Saved in the last {days.length} days</h2>
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
          <dl class="figures">
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
          </dl>
          <Chart days={days} />
          {tools.length > 0 && <Called tools={tools} />}
          <p class="about">
            {
              "Tokens are estimated at 4.6 characters per token for definitions, and at 4 for everything else. All your projects count."
            }
          </p>
        </>
      )}
    </section>
  );
}

function Figure({ name, value, more }: { name: string; value: string; more: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        <strong>{value}</strong>
        <span>{more}</span>
      </dd>
    </div>
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

function Called({ tools }: { tools: Savings["tools"] }) {
  return (
    <table>
      <caption>Most called tools</caption>
      <thead>
        <tr>
          <th scope="col">Tool</th>
          <th scope="col">Calls</th>
          <th scope="col">Failed</th>
          <th scope="col">Time</th>
        </tr>
      </thead>
      <tbody>
        {tools.map(({ server, tool, calls, failures, durationMs }) => (
          <tr key={JSON.stringify([server, tool])}>
            <th scope="row">
              <ToolName server={server} tool={tool} />
            </th>
            <td>{grouped(calls)}</td>
            <td>{failures > 0 ? grouped(failures) : ""}</td>
            <td>{durationText(durationMs)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
