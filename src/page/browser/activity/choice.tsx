/** A list of choices by which executions and calls are narrowed. */
import { visible } from "../../../policy/visible.ts";

/** Characters of a name in a list of choices. */
const maxChoiceChars = 60;

type Choices = readonly (readonly [value: string, text: string])[];

/** Hours until now. */
export const spans: Choices = [
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
