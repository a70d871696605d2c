/** The choice of a tool's state: allow, ask or deny. It is the same in the table of all tools and beside a server. */
import { visible } from "../../../policy/hidden-characters.ts";
import type { PageToolRow, PageToolState } from "../../servers-contract.ts";
import { type States, stateWords } from "./change-states.ts";

interface StateChoiceProps {
  tool: Pick<PageToolRow, "server" | "name" | "state" | "line">;
  tabIndex: number;
  canChange: boolean;
  states: States;
}

export function StateChoice({ tool, tabIndex, canChange, states }: StateChoiceProps) {
  const { server, name, state, line } = tool;
  if (!canChange) return <span class={`state-choice ${state}`}>{stateWords[state]}</span>;
  return (
    <select
      class={`state-choice ${state}`}
      aria-label={`State of ${visible(server)}.${visible(name)}`}
      title={line === undefined ? "The config says nothing about it" : visible(line)}
      tabIndex={tabIndex}
      value={state}
      disabled={states.isRunning}
      onChange={(event) => {
        const wanted = event.currentTarget.value as PageToolState;
        // Shows the new state when it is written.
        event.currentTarget.value = state;
        void states.set([tool], wanted);
      }}
    >
      {Object.entries(stateWords).map(([each, words]) => (
        <option key={each} value={each}>
          {words}
        </option>
      ))}
    </select>
  );
}
