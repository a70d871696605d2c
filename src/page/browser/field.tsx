/** Fields of forms. */
import { useEffect, useRef } from "preact/hooks";
import { visible } from "../../policy/visible.ts";
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
  useEffect(() => {
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
        <span class="about">
          <Text>{help}</Text>
        </span>
      )}
    </label>
  );
}
