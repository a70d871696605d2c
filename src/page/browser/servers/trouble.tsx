/** Servers that cannot be used as a whole until somebody does something. */
import { counted } from "../../../base/counted.ts";
import type { PageServerEntry } from "../../servers-contract.ts";
import { Panel } from "../panel.tsx";
import { Quoted, Text } from "../text.tsx";

const states: readonly PageServerEntry["state"][] = ["broken", "needs", "signed out"];

/** Whether a server is broken, lacks a variable, or requires a sign-in. */
export function needsRepair({ state }: PageServerEntry): boolean {
  return states.includes(state);
}

/** The same, or some of its tools are held. */
export function needsPerson(server: PageServerEntry): boolean {
  return server.held !== undefined || needsRepair(server);
}

interface ServerTroubleProps {
  servers: readonly PageServerEntry[];
  /** Shows the server, with its repair. */
  onShow(name: string): void;
}

/** Nothing is shown if every server can be used. */
export function ServerTrouble({ servers, onShow }: ServerTroubleProps) {
  const found = servers.filter(needsPerson);
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
        {found.map((server) => (
          <Trouble key={server.name} server={server} onShow={() => onShow(server.name)} />
        ))}
      </ul>
    </Panel>
  );
}

function Trouble({ server, onShow }: { server: PageServerEntry; onShow(): void }) {
  const { name, state, stateText, problem, held } = server;
  return (
    <li class={state === "broken" ? "card trouble failed" : "card trouble"}>
      <div>
        <Text in="h3">{name}</Text>
        {needsRepair(server) && (
          <p>
            <span class={`outcome ${state === "broken" ? "bad" : "waiting"}`}>
              <Text>{problem === undefined ? stateText : state}</Text>
            </span>
          </p>
        )}
        {needsRepair(server) && problem !== undefined && (
          <Quoted>
            <Text>{problem.split("\n", 1)[0] ?? ""}</Text>
          </Quoted>
        )}
        {held !== undefined && (
          <p>
            <span class="outcome waiting">{counted(held, "held tool")}</span>{" "}
            <Text in="span" class="about">
              {changedText(server)}
            </Text>
          </p>
        )}
      </div>
      <button type="button" onClick={onShow}>
        Show the server
      </button>
    </li>
  );
}

/** Such as "pay, refund and 2 more changed". */
function changedText({ held = 0, heldTools = [] }: PageServerEntry): string {
  const more = held - heldTools.length;
  return `${heldTools.join(", ")}${more > 0 ? ` and ${more} more` : ""} changed`;
}
