/** How an execution ended, if its outcome is still stored. */
import { useEffect, useState } from "preact/hooks";
import { counted } from "../../../base/counted.ts";
import type { PageExecution } from "../../activity-contract.ts";
import type { PageOutcome } from "../../programs-contract.ts";
import { get } from "../client.ts";
import { Problem, type Reason } from "../notice.tsx";
import { ScrolledText, Text, visibleLines } from "../text.tsx";

export function readOutcome(id: string, door: string | undefined): Promise<PageOutcome> {
  const search = door === undefined ? "" : `?${new URLSearchParams({ door })}`;
  return get<PageOutcome>(`executions/${id}/outcome${search}`);
}

interface OutcomeTextProps {
  id: string;
  door: string | undefined;
  outcome: PageOutcome;
}

/** The value or the error, what the program has shown, and its logs. */
export function OutcomeText({ id, door, outcome }: OutcomeTextProps) {
  return (
    <>
      {outcome.texts.map((text, place) => (
        // Texts have no other identity.
        <ScrolledText key={place} class="arguments">
          {visibleLines(text)}
        </ScrolledText>
      ))}
      <Images id={id} door={door} media={outcome.media} />
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
      <Logs outcome={outcome} />
    </>
  );
}

function Images({ id, door, media }: Pick<OutcomeTextProps, "id" | "door"> & Pick<PageOutcome, "media">) {
  if (media.length === 0) return null;
  const address = (place: number) =>
    `api/executions/${id}/image?${new URLSearchParams({ place: String(place), ...(door === undefined ? {} : { door }) })}`;
  return (
    <div class="outcome-images">
      {media.map(({ type, bytes, isImage }, place) =>
        isImage ? (
          <img key={place} src={address(place)} alt={`Result ${place + 1}`} />
        ) : (
          <p class="about" key={place}>
            A file: <Text>{type}</Text>, {counted(bytes, "byte")}
          </p>
        ),
      )}
    </div>
  );
}

function Logs({ outcome: { logs, moreLogs } }: Pick<OutcomeTextProps, "outcome">) {
  if (logs.length === 0) return null;
  return (
    <>
      <h3>Logs</h3>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it is scrolled with the arrow keys. */}
      <ol class="outcome-logs" tabIndex={0} aria-label="Logs">
        {logs.map(({ level, text }, place) => (
          // Lines have no other identity.
          <li key={place} class={level}>
            <span class="level">{level}</span>
            <span>{visibleLines(text)}</span>
          </li>
        ))}
      </ol>
      {moreLogs > 0 && <p class="about">{counted(moreLogs, "more line")}</p>}
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
      {outcome && <OutcomeText id={id} door={door} outcome={outcome} />}
    </details>
  );
}
