/** Tells others what has become of a saved program. */
import { useState } from "preact/hooks";
import { post } from "../client.ts";
import { Field } from "../field.tsx";
import { useAction, useNotices } from "../notice.tsx";
import { namedLines } from "./input-fields.tsx";

const receivers = {
  agent: ["my agents, in their next session"],
  command: ["a command of the shell", "Command", 'echo "$CLAUDIKINS_STATE" >> log'],
  webhook: ["a webhook", "Address", "https://example.com/hook"],
  tool: ["a tool", "Tool", "demo.send_email"],
} as const;
type Kind = keyof typeof receivers;

const states = { done: "it has succeeded", failed: "it has failed", waiting: "it waits for a person" } as const;
type State = keyof typeof states;

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
  const [, title, example] = receivers[kind];
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
      <form
        class="fields"
        onSubmit={(event) => {
          event.preventDefault();
          void add();
        }}
      >
        <fieldset class="checks">
          <legend>When</legend>
          {(Object.keys(states) as State[]).map((state) => (
            <label key={state}>
              <input
                type="checkbox"
                checked={when.includes(state)}
                onChange={(event) =>
                  setWhen(event.currentTarget.checked ? [...when, state] : when.filter((each) => each !== state))
                }
              />
              {states[state]}
            </label>
          ))}
        </fieldset>
        <label class="field">
          <span>Tell</span>
          <select aria-label="Tell" value={kind} onChange={(event) => setKind(event.currentTarget.value as Kind)}>
            {(Object.keys(receivers) as Kind[]).map((each) => (
              <option key={each} value={each}>
                {receivers[each][0]}
              </option>
            ))}
          </select>
        </label>
        {title !== undefined && <Field name={title} example={example} value={what} onInput={setWhat} />}
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
          <label class="field">
            <span>
              Values that it gets <span class="about">one a line, optional</span>
            </span>
            <textarea
              rows={2}
              spellcheck={false}
              placeholder="to=me@example.com"
              value={values}
              onInput={(event) => setValues(event.currentTarget.value)}
            />
          </label>
        )}
        {kind !== "agent" && (
          <label class="check">
            <input
              type="checkbox"
              checked={hasContents}
              onChange={(event) => setContents(event.currentTarget.checked)}
            />
            <span>Tell the value and the error, too</span>
          </label>
        )}
        <div class="actions">
          <button
            type="submit"
            disabled={isRunning || when.length === 0 || (title !== undefined && what.trim() === "")}
          >
            Add the notification
          </button>
        </div>
      </form>
    </details>
  );
}
