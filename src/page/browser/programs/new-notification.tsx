/** Tells others what has become of a saved program. */
import { useState } from "preact/hooks";
import { post } from "../client.ts";
import { CheckField, Checks, ChoiceField, Field, LinesField, SubmitForm } from "../field.tsx";
import { useAction, useNotices } from "../notice.tsx";
import { namedLines } from "./input-fields.tsx";

const receivers = {
  agent: "my agents, in their next session",
  command: "a command of the shell",
  webhook: "a webhook",
  tool: "a tool",
} as const;
type Kind = keyof typeof receivers;

/** The field that a receiver needs, with an example. */
const neededFields: Partial<Record<Kind, [title: string, example: string]>> = {
  command: ["Command", 'echo "$CLAUDIKINS_STATE" >> log'],
  webhook: ["Address", "https://example.com/hook"],
  tool: ["Tool", "demo.send_email"],
};

const states = { done: "it has succeeded", failed: "it has failed", waiting: "it waits for a person" } as const;
type State = keyof typeof states;
const allStates = Object.keys(states) as State[];

interface NewNotificationProps {
  name: string;
  door: string | undefined;
  onMade(): Promise<void>;
}

export function NewNotification({ name, door, onMade }: NewNotificationProps) {
  const notices = useNotices();
  const { isRunning, run } = useAction();
  const [kind, setKind] = useState<Kind>("agent");
  const [what, setWhat] = useState("");
  const [secret, setSecret] = useState("");
  const [values, setValues] = useState("");
  const [hasContents, setContents] = useState(false);
  const [when, setWhen] = useState<State[]>(["failed", "waiting"]);
  const needed = neededFields[kind];
  const hasValues = kind === "webhook" || kind === "tool";
  const add = () =>
    run(async () => {
      const receiver = kind === "agent" ? { agent: true } : { [kind]: what.trim() };
      await post("programs/notify", {
        name,
        door,
        when,
        receiver: { ...receiver, ...(kind === "webhook" && secret !== "" ? { secret } : {}) },
        hasContents: hasContents && kind !== "agent",
        values: hasValues ? namedLines(values) : {},
        map: {},
      });
      notices.changed(`Others are told what becomes of ${name}`);
      setWhat("");
      setValues("");
      await onMade();
    });
  return (
    <details>
      <summary>Tell others</summary>
      <SubmitForm onSubmit={add}>
        <Checks legend="When" values={allStates} chosen={when} onChange={setWhen}>
          {(state) => states[state]}
        </Checks>
        <ChoiceField name="Tell" value={kind} choices={receivers} onChoose={setKind} />
        {needed && <Field name={needed[0]} example={needed[1]} value={what} onInput={setWhat} />}
        {kind === "command" && (
          <p class="about">
            It runs with all of your rights, and gets <code>CLAUDIKINS_PROGRAM</code>, <code>CLAUDIKINS_STATE</code> and{" "}
            <code>CLAUDIKINS_EXECUTION</code>.
          </p>
        )}
        {kind === "webhook" && (
          <Field
            name="Name of the secret"
            about="optional"
            help="Requests are signed with it, as Standard Webhooks. Set it under System first."
            value={secret}
            onInput={setSecret}
          />
        )}
        {hasValues && (
          <LinesField
            name="Values that it gets"
            about="one a line, optional"
            example="to=me@example.com"
            value={values}
            onInput={setValues}
          />
        )}
        {kind !== "agent" && (
          <CheckField isChecked={hasContents} onChange={setContents}>
            Tell the value and the error, too
          </CheckField>
        )}
        <div class="actions">
          <button
            type="submit"
            disabled={isRunning || when.length === 0 || (needed !== undefined && what.trim() === "")}
          >
            Add the notification
          </button>
        </div>
      </SubmitForm>
    </details>
  );
}
