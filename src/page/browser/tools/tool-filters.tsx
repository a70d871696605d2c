/** The search and the filters of the tools. */
import { Choice, FilterForm, named, SearchField } from "../filter-form.tsx";
import type { ToolQuery } from "./found-tools.ts";

const states = [
  ["allow", "Allow"],
  ["ask", "Ask"],
  ["deny", "Deny"],
] as const;
const effects = [
  ["reads", "Reads"],
  ["changes", "Changes"],
  ["destroys", "May destroy"],
  ["unstated", "Not stated"],
] as const;
const labels = [
  ["untrusted", "untrusted"],
  ["private", "private"],
  ["public", "public"],
  ["rule", "with a rule"],
] as const;
const uses = [
  ["called", "Called in 7 days"],
  ["failing", "Failed in 7 days"],
  ["unused", "Not called in 7 days"],
] as const;
const orders = [
  ["calls", "Most calls first"],
  ["failures", "Most errors first"],
  ["last", "Last call first"],
] as const;

interface ToolFiltersProps {
  query: ToolQuery;
  servers: readonly string[];
  doors: readonly string[];
  onChange(query: ToolQuery): void;
}

export function ToolFilters({ query, servers, doors, onChange }: ToolFiltersProps) {
  const set = (part: ToolQuery) => onChange({ ...query, ...part });
  const isSet = Object.values(query).some((value) => value !== undefined && value !== "");
  return (
    <FilterForm isSet={isSet} onClear={() => onChange({})}>
      <SearchField
        name="Search as an agent does"
        placeholder="Search as an agent does"
        value={query.text}
        isFilter
        hasKey
        onChange={(text) => set({ text })}
      />
      <Choice name="State" value={query.state} any="Any state" choices={states} onChange={(state) => set({ state })} />
      {servers.length > 1 && (
        <Choice
          name="Server"
          value={query.server}
          any="Any server"
          choices={named(servers)}
          onChange={(server) => set({ server })}
        />
      )}
      <Choice
        name="Effect"
        value={query.effect}
        any="Any effect"
        choices={effects}
        onChange={(effect) => set({ effect })}
      />
      <Choice name="Label" value={query.label} any="Any label" choices={labels} onChange={(label) => set({ label })} />
      <Choice name="Use" value={query.use} any="Any use" choices={uses} onChange={(use) => set({ use })} />
      <Choice name="Order" value={query.order} any="By name" choices={orders} onChange={(order) => set({ order })} />
      {doors.length > 0 && (
        <Choice
          name="Seen through"
          value={query.door}
          any="Without a door"
          choices={named(doors).map(([door, text]) => [door, `Door ${text}`] as const)}
          onChange={(door) => set({ door })}
        />
      )}
    </FilterForm>
  );
}
