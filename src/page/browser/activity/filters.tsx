/** The filters of the list of executions. */

import { Choice, FilterForm, named, SearchField, WhenFields } from "../filter-form.tsx";
import { Text } from "../text.tsx";
import { isNarrowed, type Query } from "./query.ts";

const states = ["running", "waiting", "done", "failed", "denied", "cancelled"].map((state) => [state, state] as const);

interface FiltersProps {
  query: Query;
  /** What the list can be narrowed to. */
  agents: readonly string[];
  doors: readonly string[];
  people: readonly { id: string; name: string }[];
  servers: readonly string[];
  hasKeys: boolean;
  onChange(query: Query): void;
}

export function Filters({ query, agents, doors, people, servers, hasKeys, onChange }: FiltersProps) {
  const set = (part: Query) => onChange({ ...query, ...part });
  return (
    <FilterForm isSet={isNarrowed(query)} onClear={() => onChange({ order: query.order })}>
      <SearchField
        name="Find executions"
        placeholder="Find: a comment, a tool, an agent, a folder …"
        value={query.text}
        isFilter
        hasKey={hasKeys}
        onChange={(text) => set({ text })}
      />
      <Choice name="State" value={query.state} any="Any state" choices={states} onChange={(state) => set({ state })} />
      <WhenFields hours={query.hours} day={query.day} onChange={set} />
      {servers.length > 0 && (
        <Choice
          name="Server"
          value={query.server}
          any="Any server"
          choices={named(servers)}
          onChange={(server) => set({ server, tool: undefined })}
        />
      )}
      {agents.length > 0 && (
        <Choice
          name="Agent"
          value={query.agent}
          any="Any agent"
          choices={named(agents)}
          onChange={(agent) => set({ agent })}
        />
      )}
      {doors.length > 0 && (
        <Choice
          name="Door"
          value={query.door}
          any="Any door"
          choices={named(doors)}
          onChange={(door) => set({ door })}
        />
      )}
      {people.length > 0 && (
        <Choice
          name="Person"
          value={query.person}
          any="Any person"
          choices={people.map(({ id, name }) => [id, named([name])[0]?.[1] ?? id] as const)}
          onChange={(person) => set({ person })}
        />
      )}
      {query.tool !== undefined && (
        <button type="button" class="chip" onClick={() => set({ tool: undefined })}>
          <span class="hidden">Any tool instead of </span>
          <Text>{query.tool}</Text> <span aria-hidden="true">✕</span>
        </button>
      )}
    </FilterForm>
  );
}
