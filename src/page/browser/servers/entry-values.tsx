/** Variables and headers of an entry in a form. A value that is set is not shown. */
import type { PageEntry, PageEntryValue } from "../../servers-contract.ts";
import { Field } from "../field.tsx";
import { Text } from "../text.tsx";

/** A change of an entry, as `POST api/servers/edit` takes it. */
export interface Change {
  at: [key: string, name?: string];
  value?: unknown;
}

export interface NamedRow {
  name: string;
  /** What the entry has. Undefined for a new one. */
  before?: PageEntryValue | undefined;
  /** The new value. Empty: what is set stays. */
  value: string;
  isSecret: boolean;
  isRemoved: boolean;
}

/** Names whose values are usually secret. */
const secretName = /key|token|secret|pass|pwd|auth|credential|cookie/i;

export function namedRows(values: readonly PageEntryValue[]): NamedRow[] {
  return values.map((before) => ({
    name: before.name,
    before,
    value: "",
    isSecret: secretName.test(before.name),
    isRemoved: false,
  }));
}

const isReference = (value: string) => value.includes("${");

/** Whether the new value of a row becomes a secret. */
const isKept = ({ value, isSecret, isRemoved }: NamedRow) =>
  isSecret && !isRemoved && value !== "" && !isReference(value);

/** The names of the secrets that the rows make, by the rows' places. None is a secret that is set already. */
export function secretNames(rows: readonly NamedRow[], { server }: PageEntry, taken: Set<string>): Map<number, string> {
  const names = new Map<number, string>();
  for (const [at, row] of rows.entries()) {
    if (!isKept(row)) continue;
    const plain = row.name.toUpperCase().replace(/\W+/g, "_");
    const own = `${server}_${row.name}`.toUpperCase().replace(/\W+/g, "_");
    const candidates = [plain, own, ...Array.from({ length: 100 }, (_, place) => `${plain.slice(0, 58)}_${place + 2}`)];
    const free = candidates.find((name) => /^[A-Z_]\w{0,63}$/.test(name) && !taken.has(name)) ?? "SECRET";
    taken.add(free);
    names.set(at, free);
  }
  return names;
}

/** The differences of the rows, and the secrets that they make. */
export function namedChanges(key: "env" | "headers", rows: readonly NamedRow[], secrets: Map<number, string>) {
  const changes: Change[] = [];
  for (const [at, { name, before, value, isRemoved }] of rows.entries()) {
    if (isRemoved) {
      if (before) changes.push({ at: [key, name] });
      continue;
    }
    const secret = secrets.get(at);
    if (value === "" || name.trim() === "") continue;
    changes.push({ at: [key, name.trim()], value: secret === undefined ? value : `\${secret:${secret}}` });
  }
  return { changes, secrets: [...secrets].map(([at, name]) => ({ name, value: rows[at]?.value ?? "" })) };
}

interface NamedRowsProps {
  title: "Variables" | "Headers";
  rows: NamedRow[];
  entry: PageEntry;
  onChange(rows: NamedRow[]): void;
}

export function NamedRows({ title, rows, entry, onChange }: NamedRowsProps) {
  const word = title === "Variables" ? "variable" : "header";
  const secrets = secretNames(rows, entry, new Set(entry.secrets));
  return (
    <fieldset class="entry-rows">
      <legend>{title}</legend>
      {rows.map((row, at) => {
        const change = (part: Partial<NamedRow>) => onChange(rows.with(at, { ...row, ...part }));
        const { name, before, value, isSecret, isRemoved } = row;
        return (
          <div class="entry-value" key={at}>
            <div class="entry-row">
              {before ? (
                <Field
                  name={name}
                  about={stateOf(before, isRemoved)}
                  example={before.shown === undefined ? "type another value to replace it" : ""}
                  value={value}
                  isHidden={isSecret && !isReference(value)}
                  onInput={(text) => change({ value: text })}
                />
              ) : (
                <>
                  <Field
                    name={`Name of the ${word}`}
                    value={name}
                    isFocused
                    onInput={(text) => change({ name: text })}
                  />
                  <Field
                    name="Value"
                    value={value}
                    isHidden={isSecret && !isReference(value)}
                    onInput={(text) => change({ value: text })}
                  />
                </>
              )}
              <button
                type="button"
                aria-label={`${isRemoved ? "Keep" : "Remove"} ${word} ${name}`}
                onClick={() =>
                  before ? change({ isRemoved: !isRemoved }) : onChange(rows.filter((_, other) => other !== at))
                }
              >
                {isRemoved ? "Keep" : "Remove"}
              </button>
            </div>
            {value !== "" && !isReference(value) && !isRemoved && (
              <label class="check">
                <input
                  type="checkbox"
                  checked={isSecret}
                  onChange={(event) => change({ isSecret: event.currentTarget.checked })}
                />
                <span>
                  Keep it as a secret
                  {secrets.has(at) && (
                    <>
                      {": the entry refers to "}
                      <code>
                        <Text>{`\${secret:${secrets.get(at)}}`}</Text>
                      </code>
                    </>
                  )}
                </span>
              </label>
            )}
          </div>
        );
      })}
      <button
        type="button"
        class="add"
        onClick={() => onChange([...rows, { name: "", value: "", isSecret: true, isRemoved: false }])}
      >
        Add a {word}
      </button>
    </fieldset>
  );
}

function stateOf({ shown, isMissing }: PageEntryValue, isRemoved: boolean): string {
  if (isRemoved) return "is removed";
  if (shown === undefined) return "set";
  return isMissing ? `${shown}, which is not set` : shown;
}
