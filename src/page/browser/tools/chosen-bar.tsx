/** The bar for chosen tools: a state for all of them, and what it would have meant for the last calls. */
import { useEffect, useState } from "preact/hooks";
import { counted } from "../../../base/counted.ts";
import type { PageToolRow, PageToolState } from "../../tools-contract.ts";
import { useNotices } from "../notice.tsx";
import { Text } from "../text.tsx";
import { previewOf, type States, stateWords } from "./change-states.ts";

/** The most tools of one change, as in the guard of the server. */
const maxChangedTools = 500;

interface ChosenBarProps {
  tools: readonly PageToolRow[];
  states: States;
  onDone(): void;
}

export function ChosenBar({ tools, states, onDone }: ChosenBarProps) {
  const notices = useNotices();
  const [state, setState] = useState<PageToolState>();
  const [impact, setImpact] = useState("");
  const changing = tools.filter((tool) => tool.state !== state);
  const isTooMany = tools.length > maxChangedTools;
  const key = JSON.stringify(tools.map(({ server, name }) => [server, name]));
  useEffect(() => {
    setImpact("");
    if (state === undefined || changing.length === 0 || isTooMany) return undefined;
    let isWanted = true;
    previewOf(changing, state).then(
      ({ text }) => isWanted && setImpact(text),
      (error: unknown) => isWanted && notices.fail(error),
    );
    return () => {
      isWanted = false;
    };
  }, [state, key]);
  return (
    <section class="chosen-bar" aria-label="Chosen tools">
      <strong>{counted(tools.length, "tool")} chosen</strong>
      {Object.entries(stateWords).map(([each, words]) => (
        <button
          type="button"
          key={each}
          aria-pressed={each === state}
          disabled={states.isRunning || isTooMany}
          onClick={() => setState(each as PageToolState)}
        >
          <span class={`dot ${each}`} aria-hidden="true" />
          {words}
        </button>
      ))}
      <button type="button" class="plain" onClick={onDone}>
        Clear
      </button>
      {isTooMany && <p class="about">At most {maxChangedTools} tools are changed at once.</p>}
      {state !== undefined && !isTooMany && (
        <p class="chosen-effect">
          <span class="about" role="status">
            {changing.length === 0 ? (
              "They are in this state already."
            ) : (
              <Text>{impact || "Reading the call log …"}</Text>
            )}
          </span>
          {changing.length > 0 && (
            <button
              type="button"
              class="primary"
              disabled={states.isRunning}
              onClick={() => void states.set(changing, state, true).then(onDone)}
            >
              Set {counted(changing.length, "tool")} to {stateWords[state]}
            </button>
          )}
        </p>
      )}
    </section>
  );
}
