/** How an execution ended, if its outcome is still stored. */
import { useState } from "preact/hooks";
import type { PageExecution } from "../../activity-contract.ts";
import type { PageOutcome } from "../../programs-contract.ts";
import { get } from "../client.ts";
import { Problem, type Reason } from "../problem.tsx";
import { ScrolledText, visibleLines } from "../text.tsx";

export function Outcome({ execution: { id, door, isDryRun } }: { execution: PageExecution }) {
  const [outcome, setOutcome] = useState<PageOutcome>();
  const [problem, setProblem] = useState<Reason>();
  const load = () => {
    const search = door === undefined ? "" : `?${new URLSearchParams({ door })}`;
    get<PageOutcome>(`executions/${id}/outcome${search}`).then(setOutcome, () =>
      setProblem({ message: "The value is not kept. Only programs in the background keep it." }),
    );
  };
  return (
    <details class="part" onToggle={(event) => event.currentTarget.open && !outcome && load()}>
      <summary>{isDryRun ? "What it would change" : "Value"}</summary>
      {problem && <p class="about">{problem.message}</p>}
      {outcome?.ok === false && <Problem reason={{ message: outcome.text, hint: outcome.hint }} />}
      {outcome?.ok === true && (
        <ScrolledText class="arguments">{visibleLines(outcome.text || "no value")}</ScrolledText>
      )}
      {outcome?.isCut && (
        <p class="about">
          Only the beginning is shown. For all of it: <code>claudikins executions wait {id}</code>
        </p>
      )}
    </details>
  );
}
