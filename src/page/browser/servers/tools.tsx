/** The tools of one server: which may be called, and when a person is asked. Changes are written to the config. */
import { useState } from "preact/hooks";
import { grouped } from "../../../base/counted.ts";
import type {
  ConfirmMode,
  DeniedPattern,
  PageImpact,
  PageServerEntry,
  PageTool,
  PageTools,
  PageUndo,
} from "../../servers-contract.ts";
import { post } from "../client.ts";
import { useAction, useConfigChanged, useLoaded, useNotices } from "../notice.tsx";
import { useRoving } from "../roving.ts";
import { compareNames, Key, Text } from "../text.tsx";

/** Tools that are shown at first, and with each "Show more". */
const shownToolsStep = 100;

const modeWords: Record<ConfirmMode, string> = {
  never: "never ask",
  destructive: "ask if destructive",
  always: "always ask",
};

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

type Change = { access: "allowed" | "denied" } | { confirm: ConfirmMode };

/** `mark` changes when the tools or their policy have changed, perhaps on another page. */
export function ToolList({ server, state, mark }: { server: string; state: PageServerEntry["state"]; mark: string }) {
  const { found, isSaving, change } = useTools(server, mark);
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
      <Rows tools={fitting.slice(0, most)} isDisabled={!found.canChange || isSaving} onChange={change} />
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
      {found.patterns.length > 0 && (
        <Patterns patterns={found.patterns} onAllow={(pattern) => change(pattern, { access: "allowed" })} />
      )}
    </div>
  );
}

/**
 * The tools of a server and a function that changes the settings of a tool in the config. The tools are undefined until they are loaded.
 */
function useTools(server: string, mark: string) {
  const notices = useNotices();
  const configChanged = useConfigChanged();
  const { isRunning: isSaving, run } = useAction();
  const [found, setFound] = useLoaded<PageTools>(`tools?server=${encodeURIComponent(server)}`, mark);
  const save = async (tool: string, what: Change, isSeen = false): Promise<void> => {
    if ("access" in what && what.access === "denied" && !isSeen) {
      const { waiting, text } = await post<PageImpact>("policy/preview", { tools: [{ server, tool }], state: "deny" });
      if (waiting > 0) {
        notices.ask(`Not changed yet: ${server}.${tool}`, text, "Deny anyway", () => {
          void run(() => save(tool, what, true));
        });
        return;
      }
    }
    const { undo, ...tools } = await post<PageTools & PageUndo>("policy", { server, tool, ...what });
    setFound(tools);
    const done = `${server}.${tool} ${changeWords(what)}`;
    configChanged({ said: `Saved in the config: ${done}`, undo, what: done });
  };
  return { found, isSaving, change: (tool: string, what: Change) => void run(() => save(tool, what)) };
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

function changeWords(what: Change): string {
  if ("confirm" in what) return `will ${modeWords[what.confirm]}`;
  return what.access === "allowed" ? "may be called" : "is denied";
}

const switchWords = { allow: "Allowed", ask: "Asks first", deny: "Denied" };

interface RowsProps {
  tools: PageTool[];
  isDisabled: boolean;
  onChange(tool: string, what: Change): void;
}

function Rows({ tools, isDisabled, onChange }: RowsProps) {
  const roving = useRoving(tools.map(({ name }) => name));
  return (
    <ul class="tool-rows" aria-labelledby="tools" {...roving.list}>
      {tools.map((tool) => {
        const { name, shownAs, description, effect, labels, denied, confirm, confirmLine } = tool;
        const item = roving.item(name);
        // The controls of the other rows are reached with the arrows.
        const inRow = { tabIndex: item.tabIndex, disabled: isDisabled };
        return (
          <li key={name} class={denied === undefined ? "tool" : "tool denied"} {...item}>
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
                <span key={label} class="badge" title={`${label}: ${why}`}>
                  {label}{" "}
                </span>
              ))}
              <Text in="p" class="about">
                {denied === undefined ? description : `It ${denied}`}
              </Text>
            </div>
            <div class="controls">
              <button
                type="button"
                role="switch"
                class={`switch ${tool.state}`}
                aria-checked={denied === undefined}
                aria-label={`${name} may be called`}
                onClick={() => onChange(name, { access: denied === undefined ? "denied" : "allowed" })}
                {...inRow}
              >
                {switchWords[tool.state]}
              </button>
              <select
                aria-label={`When you are asked about ${name}`}
                title={confirmLine === undefined ? "The config does not ask" : `By ${confirmLine}`}
                value={confirm}
                onChange={(event) => {
                  const wanted = event.currentTarget.value as ConfirmMode;
                  // Shows the new setting until the answer arrives.
                  event.currentTarget.value = confirm;
                  onChange(name, { confirm: wanted });
                }}
                {...inRow}
                disabled={isDisabled || denied !== undefined}
              >
                {Object.entries(modeWords).map(([mode, words]) => (
                  <option key={mode} value={mode}>
                    {words}
                  </option>
                ))}
              </select>
            </div>
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
