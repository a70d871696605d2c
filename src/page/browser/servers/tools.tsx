/** The tools of one server, with their states. Changes are written to the config. */
import { Fragment } from "preact";
import { useState } from "preact/hooks";
import { grouped } from "../../../base/counted.ts";
import type { PageRules } from "../../contract.ts";
import type { DeniedPattern, PageServerEntry, PageTool, PageTools, PageUndo } from "../../servers-contract.ts";
import { post } from "../client.ts";
import { useAction, useConfigChanged, useLoaded } from "../notice.tsx";
import { useRoving } from "../roving.ts";
import { compareNames, Key, Text } from "../text.tsx";
import { type States, useStates } from "../tools/change-states.ts";
import { StateChoice } from "../tools/state-choice.tsx";

/** Tools that are shown at first, and with each "Show more". */
const shownToolsStep = 100;

const effectWords: Record<PageTool["effect"], string> = {
  unstated: "says nothing",
  reads: "reads",
  changes: "changes",
  destroys: "may destroy",
};

/** Why the tools of a server are not known, and how to list them. The server's problem is shown above. */
const unknownTools: Partial<Record<PageServerEntry["state"], string>> = {
  broken: "Its tools are not known, because it could not be started or reached. They are listed once that is fixed.",
  needs: "Its tools are not known, because it cannot be started without these variables.",
  "signed out": "Its tools are not known. They are listed once you have signed in.",
  denied: "Its tools are not listed, because the config denies all of them.",
};

/** `mark` changes when the tools or their policy have changed, perhaps on another page. */
export function ToolList({ server, state, mark }: { server: string; state: PageServerEntry["state"]; mark: string }) {
  // A change of the config, or one of ours.
  const [turn, setTurn] = useState(0);
  const changed = () => setTurn((each) => each + 1);
  const [found] = useLoaded<PageTools>(`tools?server=${encodeURIComponent(server)}`, `${mark} ${turn}`);
  const states = useStates(changed);
  const allow = useAllow(server, changed);
  const [filter, setFilter] = useState("");
  const [most, setMost] = useState(shownToolsStep);
  if (!found) return <p class="about">Loading the tools …</p>;
  if (!found.isKnown && found.patterns.length === 0) {
    return (
      <p class="empty">{unknownTools[state] ?? "Its tools are not known yet. They are listed on the first use."}</p>
    );
  }
  const fitting = found.tools.filter(fits(filter)).sort((one, other) => compareNames(one.name, other.name));
  return (
    <div class="tools">
      <Filter
        text={filter}
        onInput={(text) => {
          setFilter(text);
          setMost(shownToolsStep);
        }}
      />
      {!found.canChange && <p class="about">The demo has no config file, so its policy cannot be changed.</p>}
      <Rows server={server} tools={fitting.slice(0, most)} canChange={found.canChange} states={states} />
      {fitting.length === 0 && (
        <p class="empty">{filter === "" ? "It has no tools that can be called." : "No tool fits."}</p>
      )}
      {fitting.length > most && (
        <button type="button" onClick={() => setMost(most + shownToolsStep)}>
          Show more: {grouped(most)} of {grouped(fitting.length)} are shown
        </button>
      )}
      {found.allowLines.map((line) => (
        <p class="about" key={line}>
          Only the tools in <Text>{line}</Text> may be called. Others are not listed.
        </p>
      ))}
      {found.patterns.length > 0 && <Patterns patterns={found.patterns} onAllow={allow} />}
    </div>
  );
}

/** Removes a pattern that denies tools from the config. */
function useAllow(server: string, changed: () => void): (pattern: string) => void {
  const { run } = useAction();
  const configChanged = useConfigChanged();
  return (tool) =>
    void run(async () => {
      const rule = { server, tool, isNew: false, access: "allowed" };
      const { undo } = await post<PageRules & PageUndo>("rules", rule);
      const what = `${server}.${tool} may be called`;
      configChanged({ said: `Saved in the config: ${what}`, undo, what, undone: changed });
      changed();
    });
}

/** Whether a tool has all words of the filter. */
function fits(filter: string): (tool: PageTool) => boolean {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  return ({ name, shownAs = "", description }) => {
    const text = `${name} ${shownAs} ${description}`.toLowerCase();
    return words.every((word) => text.includes(word));
  };
}

function Filter({ text, onInput }: { text: string; onInput(text: string): void }) {
  return (
    <div class="filter">
      <h3 id="tools">Tools</h3>
      <label>
        <span class="hidden">Filter the tools</span>
        <input
          type="search"
          id="filter"
          placeholder="Filter"
          value={text}
          onInput={(event) => onInput(event.currentTarget.value)}
        />
        <Key>/</Key>
      </label>
    </div>
  );
}

interface RowsProps {
  server: string;
  tools: PageTool[];
  canChange: boolean;
  states: States;
}

function Rows({ server, tools, canChange, states }: RowsProps) {
  const roving = useRoving(tools.map(({ name }) => name));
  return (
    <ul class="tool-rows" aria-labelledby="tools" {...roving.list}>
      {tools.map((tool) => {
        const { name, shownAs, description, effect, labels, state, line } = tool;
        const item = roving.item(name);
        return (
          <li key={name} class={state === "deny" ? "tool denied" : "tool"} {...item}>
            <div class="tool-text">
              <Text in="span" class="tool-name">
                {name}
              </Text>{" "}
              {shownAs !== undefined && (
                <span class="about">
                  for agents <Text>{shownAs}</Text>{" "}
                </span>
              )}
              <span class={`badge ${effect}`}>{effectWords[effect]}</span>{" "}
              {labels.map(({ label, why }) => (
                <Fragment key={label}>
                  <span class="badge" title={`${label}: ${why}`}>
                    {label}
                  </span>{" "}
                </Fragment>
              ))}
              <Text in="p" class="about">
                {state === "deny" ? `It ${line}` : description}
              </Text>
            </div>
            {/* The choices of the other rows are reached with the arrows. */}
            <StateChoice tool={{ server, ...tool }} tabIndex={item.tabIndex} canChange={canChange} states={states} />
          </li>
        );
      })}
    </ul>
  );
}

function Patterns({ patterns, onAllow }: { patterns: DeniedPattern[]; onAllow(pattern: string): void }) {
  return (
    <div class="patterns">
      <h3>Denied by the config</h3>
      <p class="about">Denied tools are not listed.</p>
      <ul>
        {patterns.map(({ pattern, line, isOwn }) => (
          <li key={line}>
            <span>
              <Text in="span" class="tool-name">
                {pattern}
              </Text>{" "}
              <Text in="span" class="about">
                {line}
              </Text>
            </span>
            {isOwn && (
              <button type="button" onClick={() => onAllow(pattern)}>
                Allow
              </button>
            )}
          </li>
        ))}
      </ul>
    </div>
  );
}
