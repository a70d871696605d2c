/** The fields by which a list is narrowed: searches and choices. They stay below the head of the page. */
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { visible } from "../../policy/hidden-characters.ts";
import { Key } from "./text.tsx";

/** Characters of a name in a list of choices. */
const maxChoiceChars = 60;

type Choices = readonly (readonly [value: string, text: string])[];

/** Hours until now. */
const spans: Choices = [
  ["1", "Last hour"],
  ["24", "Last 24 hours"],
  ["168", "Last 7 days"],
];

/** Names that servers and agents have chosen. */
export function named(names: readonly string[]): Choices {
  return names.map((name) => [name, visible(name).slice(0, maxChoiceChars)] as const);
}

interface ChoiceProps {
  name: string;
  value: string | undefined;
  /** The text of no choice. */
  any: string;
  choices: Choices;
  onChange(value: string | undefined): void;
}

export function Choice({ name, value = "", any, choices, onChange }: ChoiceProps) {
  return (
    <select
      aria-label={name}
      class={value === "" ? "" : "is-set"}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value || undefined)}
    >
      <option value="">{any}</option>
      {choices.map(([each, text]) => (
        <option key={each} value={each}>
          {text}
        </option>
      ))}
    </select>
  );
}

interface ChoicesProps<Query> {
  query: Query;
  /** The properties of the query that are chosen from lists. A property without choices is not shown. */
  rows: readonly (readonly [key: keyof Query & string, name: string, any: string, choices: Choices])[];
  onChange(part: Partial<Query>): void;
}

export function QueryChoices<Query extends { [Name in keyof Query]?: string | undefined }>(props: ChoicesProps<Query>) {
  const { query, rows, onChange } = props;
  const shown = rows.filter(([, , , choices]) => choices.length > 0);
  return shown.map(([key, name, any, choices]) => (
    <Choice
      key={key}
      name={name}
      value={query[key]}
      any={any}
      choices={choices}
      onChange={(value) => onChange({ [key]: value } as Partial<Query>)}
    />
  ));
}

interface DayFieldProps {
  /** A day such as 2026-11-29, in the time zone of the browser. */
  value: string | undefined;
  onChange(day: string | undefined): void;
}

function DayField({ value, onChange }: DayFieldProps) {
  return (
    <input
      type="date"
      aria-label="Day"
      class={value === undefined ? "" : "is-set"}
      value={value ?? ""}
      onInput={(event) => onChange(event.currentTarget.value || undefined)}
    />
  );
}

interface WhenFieldsProps {
  hours: string | undefined;
  day: string | undefined;
  onChange(when: { hours: string | undefined; day: string | undefined }): void;
}

/** Hours until now, or a day: one of them at most. */
export function WhenFields({ hours, day, onChange }: WhenFieldsProps) {
  return (
    <>
      <Choice
        name="Time"
        value={hours}
        any="Any time"
        choices={spans}
        onChange={(chosen) => onChange({ hours: chosen, day: undefined })}
      />
      <DayField value={day} onChange={(chosen) => onChange({ day: chosen, hours: undefined })} />
    </>
  );
}

/** The span of a day, which has 23 or 25 hours when the clocks change. */
export function daySpan(day: string | undefined): { since?: string; until?: string } {
  if (day === undefined) return {};
  const [year = 0, month = 1, date = 1] = day.split("-").map(Number);
  const midnight = (after: number) => String(new Date(year, month - 1, date + after).getTime());
  return { since: midnight(0), until: midnight(1) };
}

interface FilterFormProps {
  children: ComponentChildren;
  className?: string;
  /** Whether a field is set, so that it can be cleared. */
  isSet: boolean;
  onClear(): void;
}

export function FilterForm({ children, className = "", isSet, onClear }: FilterFormProps) {
  return (
    <form class={`filters ${className}`} aria-label="Filters" onSubmit={(event) => event.preventDefault()}>
      {children}
      {isSet && (
        <button type="button" class="plain" onClick={onClear}>
          Clear
        </button>
      )}
    </form>
  );
}

interface SearchFieldProps {
  /** For screen readers. */
  name: string;
  placeholder: string;
  value: string | undefined;
  /** Whether `/` leads to the field. There is one such field in a view. */
  isFilter?: boolean;
  /** Whether the key is shown in it. */
  hasKey?: boolean;
  onChange(value: string | undefined): void;
}

export function SearchField({ name, placeholder, value, isFilter, hasKey, onChange }: SearchFieldProps) {
  return (
    <label class="search">
      <span class="hidden">{name}</span>
      <input
        id={isFilter ? "filter" : undefined}
        type="search"
        placeholder={placeholder}
        autoComplete="off"
        spellcheck={false}
        value={value ?? ""}
        onInput={(event) => onChange(event.currentTarget.value || undefined)}
      />
      {hasKey && <Key>/</Key>}
    </label>
  );
}

/** The filters stay below the head of the page, whose height depends on the width. */
export function useStickyTop(isShown: boolean): void {
  const height = useRef(0);
  useEffect(() => {
    const top = document.querySelector(".top");
    if (!top) return undefined;
    const observer = new ResizeObserver(() => {
      height.current = top.getBoundingClientRect().height;
      document.documentElement.style.setProperty("--top", `${height.current}px`);
    });
    observer.observe(top);
    return () => observer.disconnect();
  }, [isShown]);
}
