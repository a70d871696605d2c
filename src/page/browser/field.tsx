/** Forms and their fields. */
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { visible } from "../../policy/hidden-characters.ts";
import { Text } from "./text.tsx";

export interface FieldProps {
  name: string;
  value: string;
  /** Shown after the name. */
  about?: string | undefined;
  /** Shown below the field. */
  help?: string | undefined;
  example?: string | undefined;
  /** Whether the text is secret, so that it is not readable on the screen. */
  isHidden?: boolean;
  /** Whether the field gets the focus when it appears. */
  isFocused?: boolean;
  onInput(value: string): void;
}

/** A text field with its name. Its text is sent unchanged. */
export function Field({ name, value, about, help, example, isHidden = false, isFocused = false, onInput }: FieldProps) {
  const input = useRef<HTMLInputElement>(null);
  // Before the next key is pressed.
  useLayoutEffect(() => {
    if (isFocused) input.current?.focus();
  }, []);
  return (
    <label class="field">
      <span>
        <Text>{name}</Text>
        {about !== undefined && (
          <span class="about">
            {" "}
            <Text>{about}</Text>
          </span>
        )}
      </span>
      <input
        ref={input}
        {...(isHidden ? { type: "password" as const } : { type: "text" as const })}
        autoComplete="off"
        spellcheck={false}
        value={value}
        placeholder={example === undefined ? "" : visible(example)}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
      {help !== undefined && (
        <Text in="span" class="about">
          {help}
        </Text>
      )}
    </label>
  );
}

interface SubmitFormProps {
  class?: string;
  autocomplete?: "off";
  children: ComponentChildren;
  onSubmit(): unknown;
}

/** A form that the page sends itself. */
export function SubmitForm({ class: name = "fields", onSubmit, ...props }: SubmitFormProps) {
  const submit = (event: Event) => {
    event.preventDefault();
    onSubmit();
  };
  return <form class={name} onSubmit={submit} {...props} />;
}

interface ChoiceFieldProps<Value extends string> {
  name: string;
  value: Value;
  /** The words for each value. */
  choices: Readonly<Record<Value, string>>;
  onChoose(value: NoInfer<Value>): void;
}

/** A list of choices with its name. */
export function ChoiceField<Value extends string>({ name, value, choices, onChoose }: ChoiceFieldProps<Value>) {
  return (
    <label class="field">
      <span>{name}</span>
      <select aria-label={name} value={value} onChange={(event) => onChoose(event.currentTarget.value as Value)}>
        {Object.entries<string>(choices).map(([each, words]) => (
          <option key={each} value={each}>
            {visible(words)}
          </option>
        ))}
      </select>
    </label>
  );
}

interface LinesFieldProps {
  name: string;
  about?: string;
  rows?: number;
  example?: string;
  value: string;
  onInput(value: string): void;
}

/** A field for a text of several lines. */
export function LinesField({ name, about, rows = 2, example, value, onInput }: LinesFieldProps) {
  return (
    <label class="field">
      <span>
        {name} {about !== undefined && <span class="about">{about}</span>}
      </span>
      <textarea
        rows={rows}
        spellcheck={false}
        placeholder={example}
        value={value}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
    </label>
  );
}

interface CheckFieldProps {
  class?: string | undefined;
  isChecked: boolean;
  children: ComponentChildren;
  onChange(isChecked: boolean): void;
}

export function CheckField({ class: name = "check", isChecked, children, onChange }: CheckFieldProps) {
  return (
    <label class={name}>
      <input type="checkbox" checked={isChecked} onChange={(event) => onChange(event.currentTarget.checked)} />{" "}
      <span>{children}</span>
    </label>
  );
}

interface ChecksProps<Value extends string> {
  class?: string;
  legend: string;
  values: readonly Value[];
  chosen: readonly Value[];
  onChange(chosen: Value[]): void;
  children(value: Value): ComponentChildren;
}

/** A box to check for each value. */
export function Checks<Value extends string>({ legend, values, chosen, onChange, ...props }: ChecksProps<Value>) {
  const others = (value: Value) => chosen.filter((each) => each !== value);
  return (
    <fieldset class={props.class ?? "checks"}>
      <legend>{legend}</legend>
      {values.map((value) => (
        <CheckField
          key={value}
          class={undefined}
          isChecked={chosen.includes(value)}
          onChange={(isChecked) => onChange(isChecked ? [...others(value), value] : others(value))}
        >
          {props.children(value)}
        </CheckField>
      ))}
    </fieldset>
  );
}
