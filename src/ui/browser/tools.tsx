/** The tools of one server: which may be called, and when a person is asked. Changes are written to the config. */
import { useEffect, useState } from "preact/hooks";
import type { ConfirmMode, DeniedPattern, Tool, Tools } from "../contract.ts";
import { get, post } from "./client.ts";
import { useNotices } from "./notice.tsx";
import { useRoving } from "./roving.ts";
import { grouped, Key, Text } from "./text.tsx";

/** Rows that are shown at first, and with each "Show more". */
const step = 100;

const modeWords: Record<ConfirmMode, string> = {
  never: "never ask",
  destructive: "ask if destructive",
  always: "always ask",
};

const effectWords: Record<Tool["effect"], string> = {
  reads: "reads",
  changes: "changes",
  destroys: "may destroy",
};

type Change = { access: "allowed" | "denied" } | { confirm: ConfirmMode };

/** `mark` changes when the tools or their policy have changed, perhaps on another page. */
export function ToolList({ server, mark }: { server: string; mark: string }) {
  const notices = useNotices();
  const [found, setFound] = useState<Tools>();
  const [filter, setFilter] = useState("");
  const [most, setMost] = useState(step);
  const [saving, setSaving] = useState<string>();

  useEffect(() => {
    let isWanted = true;
    get<Tools>(`tools?server=${encodeURIComponent(server)}`).then(
      (tools) => isWanted && setFound(tools),
      (error: unknown) => isWanted && notices.fail(error),
    );
    return () => {
      isWanted = false;
    };
  }, [server, mark]);

  const change = async (tool: string, what: Change) => {
    setSaving(tool);
    try {
      setFound(await post<Tools>("policy", { server, tool, ...what }));
      notices.say(`Saved in the config: ${server}.${tool} ${changeWords(what)}`);
    } catch (error) {
      notices.fail(error);
    } finally {
      setSaving(undefined);
    }
  };

  if (!found) return <p class="about">Loading the tools …</p>;
  if (!found.isKnown && found.patterns.length === 0) {
    return (
      <p class="empty">
        Its tools are not known yet. They are listed on the first use, or with <code>claudikins gen</code>.
      </p>
    );
  }
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  const fitting = found.tools.filter(({ name, description }) => {
    const text = `${name} ${description}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
  const shown = fitting.slice(0, most);
  return (
    <div class="tools">
      <div class="filter">
        <h3 id="tools">Tools</h3>
        <label>
          <span class="hidden">Filter the tools</span>
          <input
            type="search"
            id="filter"
            placeholder="Filter"
            value={filter}
            onInput={(event) => {
              setFilter(event.currentTarget.value);
              setMost(step);
            }}
          />
          <Key>/</Key>
        </label>
      </div>
      {!found.canChange && <p class="about">The demo has no config file, so its policy cannot be changed.</p>}
      <Rows tools={shown} canChange={found.canChange} saving={saving} onChange={change} />
      {fitting.length === 0 && <p class="empty">No tool fits.</p>}
      {fitting.length > most && (
        <button type="button" onClick={() => setMost(most + step)}>
          Show more: {grouped(most)} of {grouped(fitting.length)} are shown
        </button>
      )}
      {found.allowLines.map((line) => (
        <p class="about" key={line}>
          Only the tools in <Text>{line}</Text> may be called. Others are not listed.
        </p>
      ))}
      {found.patterns.length > 0 && (
        <Patterns patterns={found.patterns} onAllow={(pattern) => void change(pattern, { access: "allowed" })} />
      )}
    </div>
  );
}

function changeWords(what: Change): string {
  if ("confirm" in what) return `will ${modeWords[what.confirm]}`;
  return what.access === "allowed" ? "may be called" : "is denied";
}

interface RowsProps {
  tools: Tool[];
  canChange: boolean;
  saving: string | undefined;
  onChange(tool: string, what: Change): void;
}

function Rows({ tools, canChange, saving, onChange }: RowsProps) {
  const roving = useRoving(tools.map(({ name }) => name));
  return (
    <ul class="tool-rows" aria-labelledby="tools" {...roving.list}>
      {tools.map((tool) => {
        const { name, description, effect, denied, confirm, confirmLine } = tool;
        const item = roving.item(name);
        // The controls of the other rows are reached with the arrows.
        const inRow = { tabIndex: item.tabIndex, disabled: !canChange || saving !== undefined };
        return (
          <li key={name} class={denied === undefined ? "tool" : "tool denied"} {...item}>
            <div class="tool-text">
              <span class="tool-name">
                <Text>{name}</Text>
              </span>{" "}
              <span class={`badge ${effect}`}>{effectWords[effect]}</span>
              <p class="about">
                <Text>{denied === undefined ? description : `It ${denied}`}</Text>
              </p>
            </div>
            <div class="controls">
              <button
                type="button"
                role="switch"
                class="switch"
                aria-checked={denied === undefined}
                aria-label={`${name} may be called`}
                onClick={() => onChange(name, { access: denied === undefined ? "denied" : "allowed" })}
                {...inRow}
              >
                {denied === undefined ? "Allowed" : "Denied"}
              </button>
              <select
                aria-label={`When you are asked about ${name}`}
                title={confirmLine === undefined ? "The config does not ask" : `By ${confirmLine}`}
                value={confirm}
                onChange={(event) => {
                  const wanted = event.currentTarget.value as ConfirmMode;
                  // Shows what is saved until the answer.
                  event.currentTarget.value = confirm;
                  onChange(name, { confirm: wanted });
                }}
                {...inRow}
                disabled={inRow.disabled || denied !== undefined}
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
              <span class="tool-name">
                <Text>{pattern}</Text>
              </span>{" "}
              <span class="about">
                <Text>{line}</Text>
              </span>
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
