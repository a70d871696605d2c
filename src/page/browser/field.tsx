/** Fields of forms. */
import { visible } from "../../policy/visible.ts";
import { Text } from "./text.tsx";

interface FieldProps {
  name: string;
  value: string;
  /** Shown after the name. */
  about?: string | undefined;
  /** Shown below the field. */
  help?: string | undefined;
  example?: string | undefined;
  onInput(value: string): void;
}

/** A text field with its name. Its text is sent unchanged. */
export function Field({ name, value, about, help, example, onInput }: FieldProps) {
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
        type="text"
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
