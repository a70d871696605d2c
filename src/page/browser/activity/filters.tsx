/** The filters of the list of executions. */
import type { ComponentChildren } from "preact";
import { visible } from "../../../policy/visible.ts";
import { Key, Text } from "../text.tsx";
import type { Query } from "./query.ts";

/** Characters of a name in a list of choices. */
const maxChoiceChars = 60;

const states = ["running", "waiting", "done", "failed", "denied", "cancelled"];
const spans = { "1": "Last hour", "24": "Last 24 hours", "168": "Last 7 days" };

interface FiltersProps {
  query: Query;
  /** What the list can be narrowed to. */
  agents: readonly string[];
  doors: readonly string[];
  servers: readonly string[];
  hasKeys: boolean;
  onChange(query: Query): void;
}

export function Filters({ query, agents, doors, servers, hasKeys, onChange }: FiltersProps) {
  const set = (part: Query) => onChange({ ...query, ...part });
  const named = (names: readonly string[]) =>
    names.map((name) => [name, visible(name).slice(0, maxChoiceChars)] as const);
  const isSet = Object.values(query).some((value) => value !== undefined && value !== "");
  return (
    <form class="filters" aria-label="Filters" onSubmit={(event) => event.preventDefault()}>
      <label class="search">
        <span class="hidden">Find executions</span>
        <input
          id="filter"
          type="search"
          placeholder="Find: a comment, a tool, an agent, a folder …"
          autoComplete="off"
          spellcheck={false}
          value={query.text ?? ""}
          onInput={(event) => set({ text: event.currentTarget.value || undefined })}
        />
        {hasKeys && <Key>/</Key>}
      </label>
      <Choice name="State" value={query.state} any="Any state" onChange={(state) => set({ state })}>
        {options(states.map((state) => [state, state] as const))}
      </Choice>
      <Choice name="Time" value={query.hours} any="Any time" onChange={(hours) => set({ hours })}>
        {options(Object.entries(spans))}
      </Choice>
      {servers.length > 0 && (
        <Choice
          name="Server"
          value={query.server}
          any="Any server"
          onChange={(server) => set({ server, tool: undefined })}
        >
          {options(named(servers))}
        </Choice>
      )}
      {agents.length > 0 && (
        <Choice name="Agent" value={query.agent} any="Any agent" onChange={(agent) => set({ agent })}>
          {options(named(agents))}
        </Choice>
      )}
      {doors.length > 0 && (
        <Choice name="Door" value={query.door} any="Any door" onChange={(door) => set({ door })}>
          {options(named(doors))}
        </Choice>
      )}
      {query.tool !== undefined && (
        <button type="button" class="chip" onClick={() => set({ tool: undefined })}>
          <span class="hidden">Any tool instead of </span>
          <Text>{query.tool}</Text> <span aria-hidden="true">✕</span>
        </button>
      )}
      {isSet && (
        <button type="button" class="plain" onClick={() => onChange({})}>
          Clear
        </button>
      )}
    </form>
  );
}

function options(choices: readonly (readonly [value: string, text: string])[]) {
  return choices.map(([value, text]) => (
    <option key={value} value={value}>
      {text}
    </option>
  ));
}

interface ChoiceProps {
  name: string;
  value: string | undefined;
  /** The text of no choice. */
  any: string;
  children: ComponentChildren;
  onChange(value: string | undefined): void;
}

function Choice({ name, value = "", any, children, onChange }: ChoiceProps) {
  return (
    <select
      aria-label={name}
      class={value === "" ? "" : "is-set"}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value || undefined)}
    >
      <option value="">{any}</option>
      {children}
    </select>
  );
}
