/** How an execution ended, if its outcome is still stored. */
import { useEffect, useState } from "preact/hooks";
import type { PageExecution } from "../../activity-contract.ts";
import type { PageOutcome } from "../../programs-contract.ts";
import { get } from "../client.ts";
import { Problem, type Reason } from "../problem.tsx";
import { ScrolledText, visibleLines } from "../text.tsx";

export function readOutcome(id: string, door: string | undefined): Promise<PageOutcome> {
  const search = door === undefined ? "" : `?${new URLSearchParams({ door })}`;
  return get<PageOutcome>(`executions/${id}/outcome${search}`);
}

/** The value or the error. */
export function OutcomeText({ id, outcome }: { id: string; outcome: PageOutcome }) {
  return (
    <>
      {outcome.ok ? (
        <ScrolledText class="arguments">{visibleLines(outcome.text || "no value")}</ScrolledText>
      ) : (
        <Problem reason={{ message: outcome.text, hint: outcome.hint }} />
      )}
      {outcome.isCut && (
        <p class="about">
          Only the beginning is shown. For all of it: <code>claudikins executions wait {id}</code>
        </p>
      )}
    </>
  );
}

export function Outcome({ execution: { id, door, isDryRun } }: { execution: PageExecution }) {
  const [outcome, setOutcome] = useState<PageOutcome>();
  const [problem, setProblem] = useState<Reason>();
  const load = () => {
    readOutcome(id, door).then(setOutcome, () =>
      setProblem({ message: "The value is not kept. Only programs in the background keep it." }),
    );
  };
  // A dry run is made for its outcome.
  useEffect(() => {
    if (isDryRun) load();
  }, []);
  const isAsked = outcome !== undefined || problem !== undefined || isDryRun;
  return (
    <details
      class="part"
      open={isDryRun}
      onToggle={(event) => {
        if (event.currentTarget.open && !isAsked) load();
      }}
    >
      <summary>{isDryRun ? "What it would change" : "Value"}</summary>
      {problem && <p class="about">{problem.message}</p>}
      {outcome && <OutcomeText id={id} outcome={outcome} />}
    </details>
  );
}
