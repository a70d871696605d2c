/** The servers of the config: their state, their sign-in, and the tools of the chosen one. */
import { useState } from "preact/hooks";
import { counted } from "../../base/counted.ts";
import type { PageServerEntry, PageState } from "../contract.ts";
import { HeldTools } from "./held.tsx";
import { Panel } from "./panel.tsx";
import { useRoving } from "./roving.ts";
import { SignInPanel } from "./sign-in.tsx";
import { Text } from "./text.tsx";
import { ToolList } from "./tools.tsx";

export function Servers({ state }: { state: PageState }) {
  const { servers } = state;
  const names = servers.map(({ name }) => name);
  const roving = useRoving(names);
  const [wanted, setWanted] = useState<string>();
  const chosen = servers.find(({ name }) => name === wanted) ?? servers[0];
  return (
    <div class="with-list">
      <Panel id="servers" title="Servers">
        {servers.length === 0 && (
          <p class="empty">
            The config has no servers. Add one with <code>claudikins add</code>.
          </p>
        )}
        <ul class="rows" {...roving.list}>
          {servers.map((server) => (
            <li key={server.name}>
              <button
                type="button"
                class="row"
                aria-current={server === chosen ? "true" : undefined}
                onClick={() => {
                  setWanted(server.name);
                  // In one column, the details are below the list.
                  if (matchMedia("(max-width: 900px)").matches)
                    setTimeout(() => document.getElementById("server")?.scrollIntoView());
                }}
                {...roving.item(server.name)}
              >
                <span class={`dot ${kindOf(server)}`} aria-hidden="true" />
                <span class="row-text">
                  <strong>
                    <Text>{server.name}</Text>
                  </strong>
                  <span class="about">
                    <Text>{server.stateText}</Text>
                  </span>
                </span>
                <span class="times about">{server.tools !== undefined && counted(server.tools, "tool")}</span>
              </button>
            </li>
          ))}
        </ul>
      </Panel>
      {chosen && <Details key={chosen.name} server={chosen} />}
    </div>
  );
}

const kinds: Partial<Record<PageServerEntry["state"], string>> = {
  ready: "good",
  starting: "running",
  needs: "waiting",
  "signed out": "waiting",
  broken: "bad",
};

const kindOf = ({ state }: PageServerEntry) => kinds[state] ?? "idle";

function Details({ server }: { server: PageServerEntry }) {
  const { name, transport, where, description, problem, protocol, serverVersion, signIn, denied, toolsMark } = server;
  return (
    <Panel id="server" title={<Text>{name}</Text>}>
      {description !== undefined && (
        <p>
          <Text>{description}</Text>
        </p>
      )}
      <dl class="facts">
        <Fact name="State" value={server.stateText} />
        <Fact name="Connection" value={[transport, where].filter(Boolean).join(" · ")} />
        <Fact name="Version" value={[serverVersion, protocol && `MCP ${protocol}`].filter(Boolean).join(" · ")} />
        <Fact name="Confined by" value={server.sandbox ?? ""} />
        <Fact name="Denied tools" value={denied === undefined ? "" : String(denied)} />
      </dl>
      {problem !== undefined && (
        <p class="warning">
          <Text>{problem}</Text>
        </p>
      )}
      {signIn && <SignInPanel server={server} signIn={signIn} />}
      {server.held !== undefined && <HeldTools server={name} count={server.held} />}
      <ToolList server={name} state={server.state} mark={toolsMark} />
    </Panel>
  );
}

function Fact({ name, value }: { name: string; value: string }) {
  if (value === "") return null;
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        <Text>{value}</Text>
      </dd>
    </div>
  );
}
