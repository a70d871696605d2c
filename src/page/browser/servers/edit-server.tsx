/** The form that changes the entry of a server. Values of variables and headers are not shown: each is kept, replaced or removed. */
import { useEffect, useRef, useState } from "preact/hooks";
import { counted } from "../../../base/counted.ts";
import type { PageEntry, PageEntryChanged } from "../../servers-contract.ts";
import { get, post } from "../client.ts";
import { ChoiceField, Field, SubmitForm } from "../field.tsx";
import { Problem, type Reason, useAction, useConfigChanged, useNotices } from "../notice.tsx";
import { Panel } from "../panel.tsx";
import { Text } from "../text.tsx";
import { BoxFields, type BoxForm, boxForm, boxValue } from "./entry-box.tsx";
import {
  type Change,
  credentialRow,
  type NamedRow,
  NamedRows,
  namedChanges,
  namedRows,
  SecretField,
  secretNames,
  unnamedChange,
} from "./entry-values.tsx";

const titles: Record<string, [title: string, help?: string]> = {
  command: ["Command", "The program that is started. A path, or a name that is on the PATH."],
  url: ["Address"],
  serverUrl: ["Address"],
  httpUrl: ["Address"],
  openapi: ["Document", "The address or the path of the OpenAPI document."],
  graphql: ["Endpoint"],
  baseUrl: ["Address of the API"],
  schema: ["Schema"],
  cwd: ["Folder", "Relative paths begin at the folder of the config."],
  account: ["Account"],
  description: ["Description"],
  auth: ["Credential"],
  headersHelper: ["Command that prints headers"],
  startTimeoutMs: ["Time to start", "in milliseconds"],
  callTimeoutMs: ["Time of a call", "in milliseconds"],
  idleTimeoutMs: ["Idle time", "in milliseconds, until it is ended"],
  maxCallsInFlight: ["Calls at once"],
};

/** The keys that are offered, whether the entry has them or not. */
const offered: Record<PageEntry["kind"], readonly string[]> = {
  program: ["command"],
  address: [],
  openapi: ["openapi", "baseUrl"],
  graphql: ["graphql", "schema"],
};
const moreKeys = ["cwd", "account", "description"];

interface ArgumentRow {
  text: string;
  /** The place of an argument that is not shown, while nothing replaces it. */
  keep?: number | undefined;
}

const idleChoices = { "": "it is ended, as usual", false: "it is ended", true: "it keeps running" };

interface Form {
  texts: Record<string, string>;
  args: ArgumentRow[];
  env: NamedRow[];
  headers: NamedRow[];
  /** Values of missing variables, which become secrets. */
  missing: Record<string, string>;
  credential: NamedRow;
  box: BoxForm;
  numbers: Record<string, string>;
  keepAlive: string;
}

interface EditServerProps {
  server: string;
  onDone(): void;
}

export function EditServer({ server, onDone }: EditServerProps) {
  const notices = useNotices();
  const [entry, setEntry] = useState<PageEntry>();
  useEffect(() => {
    get<PageEntry>(`servers/entry?server=${encodeURIComponent(server)}`).then(setEntry, (error: unknown) => {
      notices.fail(error);
      onDone();
    });
  }, [server]);
  return entry ? (
    <EntryForm entry={entry} onDone={onDone} />
  ) : (
    <Panel id="server" title={<Text>{server}</Text>}>
      <p class="about">Reading its entry …</p>
    </Panel>
  );
}

function EntryForm({ entry, onDone }: { entry: PageEntry; onDone(): void }) {
  const configChanged = useConfigChanged();
  const { isRunning, run } = useAction();
  const heading = useRef<HTMLHeadingElement>(null);
  const [form, setForm] = useState(() => formOf(entry));
  const [problem, setProblem] = useState<Reason>();
  useEffect(() => {
    if (entry.missing.length === 0) heading.current?.focus();
  }, []);
  const { server, kind, missing } = entry;
  const change = (part: Partial<Form>) => setForm({ ...form, ...part });
  const { changes, secrets } = changesOf(entry, form);
  const save = (isChecked: boolean) =>
    run(async () => {
      setProblem(undefined);
      try {
        const body = { server, mark: entry.mark, changes, secrets, isChecked };
        const done = await post<PageEntryChanged>("servers/edit", body);
        const hint = done.notes.join(" ") || undefined;
        const what = `the change of the entry of ${server}`;
        const undoneHint = secrets.length > 0 ? secretsStay(secrets) : undefined;
        configChanged({ said: changedText(server, done), hint, undo: done.undo, what, undoneHint });
        onDone();
      } catch (error) {
        setProblem(error as Reason);
      }
    });
  const textField = (key: string) => {
    const known = entry.texts.find((each) => each.key === key);
    const [title = key, help] = titles[key] ?? [];
    return (
      <Field
        key={key}
        name={title}
        help={help}
        about={known && known.value === undefined ? "set, and not shown because of a secret in it" : undefined}
        value={form.texts[key] ?? ""}
        onInput={(text) => change({ texts: { ...form.texts, [key]: text } })}
      />
    );
  };
  const shownKeys = [...new Set([...offered[kind], ...entry.texts.map(({ key }) => key)])];
  const isProgram = kind === "program";
  const isNothing = changes.length === 0 && secrets.length === 0;
  return (
    <Panel id="server" title={<Text>{`Change ${server}`}</Text>} heading={heading}>
      <SubmitForm class="form" onSubmit={() => save(true)}>
        {missing.map((name, at) => (
          <Field
            key={name}
            name={`Set ${name}`}
            help={`It is kept as the secret ${name}, and the entry refers to it. To use a variable instead, set ${name} where claudikins starts, and then stop the daemon: claudikins daemon stop`}
            value={form.missing[name] ?? ""}
            isHidden
            isFocused={at === 0}
            onInput={(text) => change({ missing: { ...form.missing, [name]: text } })}
          />
        ))}
        {shownKeys.filter((key) => !moreKeys.includes(key)).map(textField)}
        {isProgram && <Arguments rows={form.args} onChange={(args) => change({ args })} />}
        {isProgram ? (
          <NamedRows title="Variables" rows={form.env} around={entry} onChange={(env) => change({ env })} />
        ) : (
          <NamedRows title="Headers" rows={form.headers} around={entry} onChange={(headers) => change({ headers })} />
        )}
        {(kind === "openapi" || kind === "graphql") && (
          <SecretField
            title="Credential"
            about={entry.credentials.includes("auth") ? "set; type another one to replace it" : "optional"}
            help="Or write ${secret:NAME} for a secret that is set, or ${NAME} for a variable."
            row={form.credential}
            around={entry}
            onChange={(credential) => change({ credential })}
          />
        )}
        {isProgram && <BoxFields form={form.box} onChange={(box) => change({ box })} />}
        <details>
          <summary>More settings</summary>
          <div class="form">
            {moreKeys.filter((key) => key !== "cwd" || isProgram || shownKeys.includes(key)).map(textField)}
            {entry.numbers.map(({ key, usual }) => (
              <Field
                key={key}
                name={titles[key]?.[0] ?? key}
                about={titles[key]?.[1]}
                example={String(usual)}
                value={form.numbers[key] ?? ""}
                onInput={(text) => change({ numbers: { ...form.numbers, [key]: text } })}
              />
            ))}
            <ChoiceField
              name="When it is idle"
              value={form.keepAlive}
              choices={idleChoices}
              onChoose={(keepAlive) => change({ keepAlive })}
            />
          </div>
        </details>
        {entry.others.length > 0 && (
          <p class="about">
            Only in the file: <Text>{entry.others.join(", ")}</Text>. To change them:{" "}
            <code>claudikins config edit</code>
          </p>
        )}
        <p class="about">
          The entry is in <Text>{entry.file}</Text>, which keeps its comments.
        </p>
        {problem && <Problem reason={problem} />}
        <div class="actions">
          <button type="submit" class="primary" disabled={isRunning || isNothing}>
            {isRunning ? "Trying it …" : "Try it and save it"}
          </button>
          {problem && (
            <button type="button" disabled={isRunning || isNothing} onClick={() => void save(false)}>
              Save it untried
            </button>
          )}
          <button type="button" onClick={onDone}>
            Cancel
          </button>
        </div>
      </SubmitForm>
    </Panel>
  );
}

/** One field for each argument, because an argument may have spaces. */
function Arguments({ rows, onChange }: { rows: ArgumentRow[]; onChange(rows: ArgumentRow[]): void }) {
  return (
    <fieldset class="entry-rows">
      <legend>Arguments</legend>
      {rows.map((row, at) => (
        <div class="entry-row" key={at}>
          <Field
            name={`Argument ${at + 1}`}
            value={row.text}
            example={row.keep === undefined ? undefined : "set, and not shown"}
            onInput={(text) => onChange(rows.with(at, { ...row, text }))}
          />
          <button
            type="button"
            aria-label={`Remove argument ${at + 1}`}
            onClick={() => onChange(rows.filter((_, other) => other !== at))}
          >
            Remove
          </button>
        </div>
      ))}
      <button type="button" class="add" onClick={() => onChange([...rows, { text: "" }])}>
        Add an argument
      </button>
    </fieldset>
  );
}

function formOf(entry: PageEntry): Form {
  return {
    texts: Object.fromEntries(entry.texts.map(({ key, value }) => [key, value ?? ""])),
    args: entry.args.map(({ text }, at) => (text === undefined ? { text: "", keep: at } : { text })),
    env: namedRows(entry.env),
    headers: namedRows(entry.headers),
    missing: {},
    credential: credentialRow(entry.server, { value: "", isSecret: true }),
    box: boxForm(entry.sandbox),
    numbers: Object.fromEntries(entry.numbers.map(({ key, value }) => [key, value === undefined ? "" : String(value)])),
    keepAlive: entry.keepAlive === undefined ? "" : String(entry.keepAlive),
  };
}

/** The differences between the entry and the form. */
function changesOf(entry: PageEntry, form: Form): { changes: Change[]; secrets: { name: string; value: string }[] } {
  const changes: Change[] = [];
  for (const [key, text] of Object.entries(form.texts)) {
    const known = entry.texts.find((each) => each.key === key);
    if (text === (known?.value ?? "")) continue;
    changes.push(text.trim() === "" ? { at: [key] } : { at: [key], value: text.trim() });
  }
  const items = form.args.map(({ text, keep }) => (text !== "" || keep === undefined ? text : { keep }));
  const before = entry.args.map(({ text }, at) => text ?? { keep: at });
  if (JSON.stringify(items) !== JSON.stringify(before)) {
    changes.push(items.length === 0 ? { at: ["args"] } : { at: ["args"], value: items });
  }
  const taken = new Set(entry.secrets);
  const named = [
    namedChanges("env", form.env, secretNames(form.env, entry.server, taken)),
    namedChanges("headers", form.headers, secretNames(form.headers, entry.server, taken)),
  ];
  const credential = unnamedChange(form.credential, entry.server, taken);
  changes.push(...named.flatMap((each) => each.changes));
  if (credential.value !== "") changes.push({ at: ["auth"], value: credential.value });
  const [box, boxBefore] = [boxValue(form.box), boxValue(boxForm(entry.sandbox))];
  if (JSON.stringify(box) !== JSON.stringify(boxBefore)) {
    changes.push(box === undefined ? { at: ["sandbox"] } : { at: ["sandbox"], value: box });
  }
  for (const { key, value } of entry.numbers) {
    const text = (form.numbers[key] ?? "").trim();
    if (text === (value === undefined ? "" : String(value))) continue;
    // A text that is no number is refused by the schema of the config, which names the key.
    changes.push(text === "" ? { at: [key] } : { at: [key], value: /^\d+$/.test(text) ? Number(text) : text });
  }
  if (form.keepAlive !== (entry.keepAlive === undefined ? "" : String(entry.keepAlive))) {
    changes.push(
      form.keepAlive === "" ? { at: ["keepAlive"] } : { at: ["keepAlive"], value: form.keepAlive === "true" },
    );
  }
  const filled = Object.entries(form.missing).filter(([, value]) => value !== "");
  const typed = [...named, credential].flatMap((each) => each.secrets);
  const secrets = [...typed, ...filled.map(([name, value]) => ({ name, value }))];
  return { changes, secrets };
}

function changedText(server: string, { changed, tools, needs, signIn }: PageEntryChanged): string {
  const what = `Changed ${server}: ${changed.join(", ")}.`;
  if (needs !== undefined) return `${what} It needs ${needs.join(", ")}.`;
  if (signIn) return `${what} It needs a sign-in.`;
  return tools === undefined ? `${what} It was not started.` : `${what} It works: ${counted(tools, "tool")}.`;
}

function secretsStay(secrets: readonly { name: string }[]): string {
  return `Still kept as a secret: ${secrets.map(({ name }) => name).join(", ")}`;
}
