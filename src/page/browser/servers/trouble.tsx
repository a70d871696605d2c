/** Servers that cannot be used until somebody does something. */
import type { PageServerEntry } from "../../servers-contract.ts";
import { Panel } from "../panel.tsx";
import { Quoted, Text } from "../text.tsx";

const states: readonly PageServerEntry["state"][] = ["broken", "needs", "signed out"];

/** Whether a server is broken, lacks a variable, or requires a sign-in. */
export function needsRepair({ state }: PageServerEntry): boolean {
  return states.includes(state);
}

interface ServerTroubleProps {
  servers: readonly PageServerEntry[];
  /** Shows the server, with its repair. */
  onShow(name: string): void;
}

/** Nothing is shown if every server can be used. */
export function ServerTrouble({ servers, onShow }: ServerTroubleProps) {
  const found = servers.filter(needsRepair);
  if (found.length === 0) return null;
  return (
    <Panel
      id="server-trouble"
      title={
        <>
          Servers that need you <span class="count">{found.length}</span>
        </>
      }
    >
      <ul class="cards">
        {found.map(({ name, state, stateText, problem }) => (
          <li key={name} class={state === "broken" ? "card trouble failed" : "card trouble"}>
            <div>
              <h3>
                <Text>{name}</Text>
              </h3>
              <p>
                <span class={`outcome ${state === "broken" ? "bad" : "waiting"}`}>
                  <Text>{problem === undefined ? stateText : state}</Text>
                </span>
              </p>
              {problem !== undefined && (
                <Quoted>
                  <Text>{problem.split("\n", 1)[0] ?? ""}</Text>
                </Quoted>
              )}
            </div>
            <button type="button" onClick={() => onShow(name)}>
              Show the server
            </button>
          </li>
        ))}
      </ul>
    </Panel>
  );
}
