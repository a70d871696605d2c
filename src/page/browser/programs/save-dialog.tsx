/** Saves the program of an execution under a name. A preview is shown first. */

import { useEffect, useRef, useState } from "preact/hooks";
import { counted } from "../../../base/counted.ts";
import type { PageExecution } from "../../activity-contract.ts";
import type { PageSaving } from "../../programs-contract.ts";
import { get, post } from "../client.ts";
import { Field, SubmitForm } from "../field.tsx";
import { Problem, type Reason, useAction, useNotices } from "../notice.tsx";
import { programKey } from "../place.ts";
import { Fact, ScrolledText, Text, visibleLines } from "../text.tsx";

interface SaveDialogProps {
  execution: PageExecution;
  onClose(): void;
  /** Called with the key of the program. */
  onSaved(program: string): void;
}

interface Row {
  name: string;
  value: string;
}

export function SaveDialog({ execution: { id, door }, onClose, onSaved }: SaveDialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const notices = useNotices();
  const { isRunning, run } = useAction();
  const [name, setName] = useState("");
  const [description, setDescription] = useState("");
  const [rows, setRows] = useState<Row[]>([{ name: "", value: "" }]);
  const [code, setCode] = useState<string>();
  const [saving, setSaving] = useState<PageSaving>();
  const [problem, setProblem] = useState<Reason>();

  useEffect(() => {
    dialog.current?.showModal();
    const search = door === undefined ? "" : `?${new URLSearchParams({ door })}`;
    get<{ code: string }>(`executions/${id}/code${search}`).then((found) => setCode(found.code), setProblem);
  }, []);

  const values = Object.fromEntries(rows.filter((row) => row.name !== "").map((row) => [row.name, row.value]));
  const wanted = { execution: id, door, name, ...(description === "" ? {} : { description }), values };
  /** The preview is out of date after a change. */
  const change = (apply: () => void) => {
    apply();
    setSaving(undefined);
    setProblem(undefined);
  };
  const attempt = (action: () => Promise<void>) => run(() => action().catch(setProblem));
  const preview = () =>
    attempt(async () => {
      if (rows.some((row) => row.name === "" && row.value !== "")) throw new Error("Each value needs a name");
      setSaving(await post<PageSaving>("programs/preview", wanted));
    });
  const save = () =>
    attempt(async () => {
      const { call } = await post<{ call: string }>("programs/save", { ...wanted, before: saving?.before ?? null });
      notices.changed(`Saved ${name}. Code calls it as ${call}`);
      onClose();
      onSaved(programKey({ name, door }));
    });
  return (
    <dialog ref={dialog} class="wide" aria-labelledby="save" onClose={onClose}>
      <h2 id="save">Save as program</h2>
      <p class="about">
        Agents find it by searching, and call it like a tool. It may call only what it called.
        {door !== undefined && (
          <>
            {" "}
            It belongs to the door <Text>{door}</Text>.
          </>
        )}
      </p>
      <SubmitForm onSubmit={() => (saving ? save() : preview())}>
        <Field
          name="Name"
          about="lower-case letters, digits and dashes"
          example="revenue-by-region"
          value={name}
          onInput={(text) => change(() => setName(text))}
        />
        <Field
          name="Description"
          about="default: the comment at the beginning of the code"
          value={description}
          onInput={(text) => change(() => setDescription(text))}
        />
        <Values rows={rows} onChange={(next) => change(() => setRows(next))} />
        {problem && <Problem reason={problem} />}
        {saving ? <Shown saving={saving} /> : code !== undefined && <Code title="The code now" code={code} />}
        <div class="actions">
          <button type="submit" class="primary" disabled={isRunning || name === ""}>
            {saving ? (saving.before === null ? "Save" : `Replace ${name}`) : "Show what will be saved"}
          </button>
          <button type="button" onClick={() => dialog.current?.close()}>
            Cancel
          </button>
        </div>
      </SubmitForm>
    </dialog>
  );
}

function Values({ rows, onChange }: { rows: Row[]; onChange(rows: Row[]): void }) {
  const change = (at: number, row: Partial<Row>) =>
    onChange(rows.map((each, place) => (place === at ? { ...each, ...row } : each)));
  return (
    <fieldset class="values">
      <legend>Values in the code that become inputs</legend>
      {rows.map((row, at) => (
        <div class="value-row" key={at}>
          <input
            type="text"
            aria-label={`Name of input ${at + 1}`}
            placeholder="month"
            autoComplete="off"
            value={row.name}
            onInput={(event) => change(at, { name: event.currentTarget.value })}
          />
          =
          <input
            type="text"
            aria-label={`Value of input ${at + 1}`}
            placeholder="2026-10"
            autoComplete="off"
            value={row.value}
            onInput={(event) => change(at, { value: event.currentTarget.value })}
          />
        </div>
      ))}
      <button type="button" onClick={() => onChange([...rows, { name: "", value: "" }])}>
        Add a value
      </button>
    </fieldset>
  );
}

function Shown({
  saving: { call, description, code, calls, inputs, replaced, before, changes },
}: {
  saving: PageSaving;
}) {
  return (
    <>
      {before !== null && (
        <p class="warning">
          Another program has this name and would be replaced
          {changes.length > 0 && (
            <>
              : <Text>{changes.join("; ")}</Text>
            </>
          )}
          .
        </p>
      )}
      <dl class="facts">
        <CallFacts call={call} calls={calls} />
        <Fact name="Description">
          <Text>{description}</Text>
        </Fact>
        {inputs.length > 0 && (
          <Fact name="Input">
            {inputs.map(({ name, type }) => (
              <p key={name}>
                <Text>{name}</Text>: <Text>{type}</Text>
                <span class="about">{placesText(replaced.find((each) => each.input === name)?.places)}</span>
              </p>
            ))}
          </Fact>
        )}
      </dl>
      <Code title="The code that is saved" code={code} />
    </>
  );
}

function placesText(places: number | undefined): string {
  return places === undefined || places === 0 ? "" : `, replaced in ${counted(places, "place")}`;
}

function Code({ title, code }: { title: string; code: string }) {
  return (
    <>
      <h3>{title}</h3>
      <ScrolledText class="arguments">{visibleLines(code)}</ScrolledText>
    </>
  );
}

export function CallFacts({ call, calls }: { call: string; calls: readonly string[] }) {
  return (
    <>
      <Fact name="Call">
        <Text in="code">{call}</Text>
      </Fact>
      <Fact name="May call">
        <Text>{calls.join(", ") || "nothing"}</Text>
      </Fact>
    </>
  );
}
