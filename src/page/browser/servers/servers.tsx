/** The servers of the config: their true state, and the chosen one, or the form for a new one. */
import { useState } from "preact/hooks";
import { counted } from "../../../base/counted.ts";
import type { PageState } from "../../contract.ts";
import type { PageServerEntry } from "../../servers-contract.ts";
import { SearchField } from "../filter-form.tsx";
import { Panel } from "../panel.tsx";
import { useRoving } from "../roving.ts";
import { Text } from "../text.tsx";
import { AddServer } from "./add-server.tsx";
import { Details } from "./details.tsx";
import { needsRepair } from "./trouble.tsx";

/** Number of servers above which the list can be searched. */
const maxUnsearched = 12;

interface ServersProps {
  state: PageState;
  /** The server whose details are shown. */
  wanted: string | undefined;
  onChoose(name: string): void;
}

export function Servers({ state, wanted, onChoose }: ServersProps) {
  const [sought, setSought] = useState<string>();
  const all = inOrder(state.servers);
  const servers = all.filter(hasLetters(sought ?? ""));
  const roving = useRoving(servers.map(({ name }) => name));
  const [isAdding, setAdding] = useState(state.servers.every(({ isOwn }) => !isOwn));
  const chosen = all.find(({ name }) => name === wanted) ?? all[0];
  const show = () => {
    // In one column, the details are below the list.
    if (matchMedia("(max-width: 900px)").matches) setTimeout(() => document.getElementById("server")?.scrollIntoView());
  };
  return (
    <div class="with-list">
      <Panel
        id="servers"
        title="Servers"
        action={
          <button
            type="button"
            aria-pressed={isAdding}
            onClick={() => {
              setAdding(true);
              show();
            }}
          >
            Add a server
          </button>
        }
      >
        {all.length === 0 && <p class="empty">The config has no servers yet.</p>}
        {all.length > maxUnsearched && (
          <div class="filters find-row">
            <SearchField name="Find a server" placeholder="Find a server" value={sought} onChange={setSought} />
          </div>
        )}
        {all.length > 0 && servers.length === 0 && <p class="empty">No server fits.</p>}
        <ul class="rows" {...roving.list}>
          {servers.map((server) => (
            <li key={server.name}>
              <button
                type="button"
                class="row"
                aria-current={!isAdding && server === chosen ? "true" : undefined}
                onClick={() => {
                  onChoose(server.name);
                  setAdding(false);
                  show();
                }}
                {...roving.item(server.name)}
              >
                <span class={`dot ${kindOf(server)}`} aria-hidden="true" />
                <span class="row-text">
                  <Text in="strong">{server.name}</Text>
                  <span class={`about state-line ${kindOf(server)}`}>
                    <Text>{server.stateText}</Text>
                  </span>
                  {server.held !== undefined && (
                    <span class="about state-line waiting">{counted(server.held, "held tool")}</span>
                  )}
                </span>
                <span class="times about">{server.tools !== undefined && counted(server.tools, "tool")}</span>
              </button>
            </li>
          ))}
        </ul>
      </Panel>
      {isAdding ? (
        <AddServer
          onAdded={(name) => {
            onChoose(name);
            setAdding(false);
          }}
        />
      ) : (
        chosen && <Details key={chosen.name} server={chosen} />
      )}
    </div>
  );
}

function hasLetters(sought: string): (server: PageServerEntry) => boolean {
  const small = sought.trim().toLowerCase();
  return ({ name, description = "" }) => `${name} ${description}`.toLowerCase().includes(small);
}

/** Those that need a person come first. */
function inOrder(servers: readonly PageServerEntry[]): PageServerEntry[] {
  const placeOf = (server: PageServerEntry) => (needsRepair(server) ? 0 : server.state === "disabled" ? 2 : 1);
  return [...servers].sort((one, other) => placeOf(one) - placeOf(other));
}

const kinds: Partial<Record<PageServerEntry["state"], string>> = {
  ready: "good",
  starting: "running",
  needs: "waiting",
  "signed out": "waiting",
  broken: "bad",
};

const kindOf = ({ state }: PageServerEntry) => kinds[state] ?? "idle";
