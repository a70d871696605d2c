/** Variables and headers of an entry in a form. A value that is set is not shown. */
import type { PageEntry, PageEntryValue } from "../../servers-contract.ts";
import { CheckField, Field, type FieldProps } from "../field.tsx";
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

/** A value that nobody has typed yet. It becomes a secret if its name suggests one. */
export const emptyRow = (name: string): NamedRow => ({
  name,
  value: "",
  isSecret: secretName.test(name),
  isRemoved: false,
});

/** The credential of a web API, which has no name in the entry. Its secret is called after the server. */
export const credentialRow = (server: string, row: Pick<NamedRow, "value" | "isSecret">): NamedRow => ({
  ...row,
  name: server === "" ? "key" : `${server}_key`,
  isRemoved: false,
});

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
const isKept = ({ name, value, isSecret, isRemoved }: NamedRow) =>
  isSecret && !isRemoved && name.trim() !== "" && value !== "" && !isReference(value);

/** The server that the values belong to, and the names of all secrets that are set. */
type Around = Pick<PageEntry, "server" | "secrets">;

/** The names of the secrets that the rows make, by the rows' places. None is a secret that is set already. */
export function secretNames(rows: readonly NamedRow[], server: string, taken: Set<string>): Map<number, string> {
  const names = new Map<number, string>();
  for (const [at, row] of rows.entries()) {
    if (!isKept(row)) continue;
    const plain = row.name.toUpperCase().replace(/\W+/g, "_");
    const own = `${server}_${row.name}`.toUpperCase().replace(/\W+/g, "_");
    const numbered = (name: string) => Array.from({ length: 100 }, (_, place) => `${name.slice(0, 58)}_${place + 2}`);
    const candidates = [plain, own, ...numbered(plain), "SECRET", ...numbered("SECRET")];
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

/** The text that the entry gets for a value without a name, and the secret that it makes. */
export function unnamedChange(row: NamedRow, server: string, taken: Set<string>) {
  const { changes, secrets } = namedChanges("env", [row], secretNames([row], server, taken));
  return { value: String(changes[0]?.value ?? ""), secrets };
}

interface NamedRowsProps {
  title: "Variables" | "Headers";
  rows: NamedRow[];
  around: Around;
  onChange(rows: NamedRow[]): void;
}

export function NamedRows({ title, rows, around, onChange }: NamedRowsProps) {
  const word = title === "Variables" ? "variable" : "header";
  const secrets = secretNames(rows, around.server, new Set(around.secrets));
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
            <KeptAsSecret row={row} secret={secrets.get(at)} onChange={(is) => change({ isSecret: is })} />
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

interface KeptProps {
  row: NamedRow;
  /** The name of the secret that it becomes. */
  secret: string | undefined;
  onChange(isSecret: boolean): void;
}

/** The choice between a secret and plain text in the config. Nothing for a value that is a reference. */
function KeptAsSecret({ row: { value, isSecret, isRemoved }, secret, onChange }: KeptProps) {
  if (value === "" || isReference(value) || isRemoved) return null;
  return (
    <CheckField isChecked={isSecret} onChange={onChange}>
      Keep it as a secret
      {secret !== undefined && (
        <>
          {": the entry refers to "}
          <Text in="code">{`\${secret:${secret}}`}</Text>
        </>
      )}
    </CheckField>
  );
}

interface SecretFieldProps extends Pick<FieldProps, "about" | "help" | "example"> {
  title: string;
  row: NamedRow;
  around: Around;
  onChange(row: NamedRow): void;
}

/** One value with a name that is given. It is not readable on the screen if it becomes a secret. */
export function SecretField({ title, row, around: { server, secrets }, onChange, ...more }: SecretFieldProps) {
  const { value, isSecret } = row;
  return (
    <div class="entry-value">
      <Field
        {...more}
        name={title}
        value={value}
        isHidden={isSecret && !isReference(value)}
        onInput={(text) => onChange({ ...row, value: text })}
      />
      <KeptAsSecret
        row={row}
        secret={secretNames([row], server, new Set(secrets)).get(0)}
        onChange={(is) => onChange({ ...row, isSecret: is })}
      />
    </div>
  );
}

function stateOf({ shown, isMissing }: PageEntryValue, isRemoved: boolean): string {
  if (isRemoved) return "is removed";
  if (shown === undefined) return "set";
  return isMissing ? `${shown}, which is not set` : shown;
}
