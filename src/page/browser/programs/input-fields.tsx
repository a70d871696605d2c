/** The fields for the input of a saved program. */
import type { PageInput } from "../../programs-contract.ts";
import { Field } from "../field.tsx";

interface InputFieldsProps {
  inputs: readonly PageInput[];
  texts: Record<string, string>;
  onInput(texts: Record<string, string>): void;
}

export function InputFields({ inputs, texts, onInput }: InputFieldsProps) {
  return (
    <>
      {inputs.map(({ name, type, isRequired, description, example }) => (
        <Field
          key={name}
          name={name}
          about={isRequired ? type : `${type}, optional`}
          help={description}
          example={example}
          value={texts[name] ?? ""}
          onInput={(text) => onInput({ ...texts, [name]: text })}
        />
      ))}
    </>
  );
}

/** The texts of inputs that the program has. It may have other inputs than when the form was filled in. */
export function givenTexts(inputs: readonly PageInput[], texts: Record<string, string>): Record<string, string> {
  return Object.fromEntries(inputs.flatMap(({ name }) => (texts[name] ? [[name, texts[name]!]] : [])));
}

/** Lines as `name=text`. Throws for a line without a name. */
export function namedLines(lines: string): Record<string, string> {
  const given = lines.split("\n").filter((line) => line.trim() !== "");
  return Object.fromEntries(
    given.map((line) => {
      const at = line.indexOf("=");
      if (at < 1) throw new Error(`Each line needs a name and a "=": ${line}`);
      return [line.slice(0, at).trim(), line.slice(at + 1).trim()] as const;
    }),
  );
}
