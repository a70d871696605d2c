/** The secrets of the user by name: where each is kept, who uses it, and forms that set and remove one. No value is ever shown. */

import { useState } from "preact/hooks";
import { counted } from "../../../base/counted.ts";
import type { PageSecret, PageSecretRemoved, PageSecretSet, PageSecrets } from "../../system-contract.ts";
import { Age } from "../age.tsx";
import { AskedButton } from "../asked-button.tsx";
import { post } from "../client.ts";
import { CheckField, Field, SubmitForm } from "../field.tsx";
import { useLeads } from "../leads.ts";
import { useLooked } from "../looked.ts";
import { Problem, useAction, useNotices } from "../notice.tsx";
import { Panel } from "../panel.tsx";
import { Text } from "../text.tsx";

interface SecretsProps {
  /** The servers that the page can show. */
  servers: readonly string[];
}

export function Secrets({ servers }: SecretsProps) {
  const { found, problem, look } = useLooked<PageSecrets>("secrets");
  /** The secret whose form is shown; empty for a new one. */
  const [edited, setEdited] = useState<string>();
  const secrets = found?.secrets ?? [];
  const missing = secrets.filter(({ place }) => place === null);
  const done = () => {
    setEdited(undefined);
    look();
  };
  return (
    <Panel id="secrets" title="Secrets">
      {problem && <Problem reason={problem} />}
      {missing.length > 0 && (
        <p class="warning">
          {counted(missing.length, "secret")} {missing.length === 1 ? "is" : "are"} not set. Servers that need one do
          not start.
        </p>
      )}
      {found && secrets.length === 0 && (
        <p class="empty">
          There are no secrets. The entry of a server refers to one as <code>{"${secret:NAME}"}</code>.
        </p>
      )}
      <ul class="lines">
        {[...missing, ...secrets.filter(({ place }) => place !== null)].map((secret) => (
          <SecretLine
            key={secret.name}
            secret={secret}
            servers={servers}
            isEdited={edited === secret.name}
            onEdit={(isEdited) => setEdited(isEdited ? secret.name : undefined)}
            onDone={done}
          />
        ))}
      </ul>
      {edited === "" ? (
        <SecretForm onDone={done} onCancel={() => setEdited(undefined)} />
      ) : (
        <button type="button" class="add" disabled={!found} onClick={() => setEdited("")}>
          Add a secret
        </button>
      )}
      <p class="about">
        Values are never shown, here or elsewhere. In a terminal: <code class="command">claudikins secrets</code>
      </p>
    </Panel>
  );
}

interface SecretLineProps extends SecretsProps {
  secret: PageSecret;
  isEdited: boolean;
  onEdit(isEdited: boolean): void;
  onDone(): void;
}

function SecretLine({ secret, servers, isEdited, onEdit, onDone }: SecretLineProps) {
  const { toServer } = useLeads();
  const notices = useNotices();
  const { name, place, setAt, users } = secret;
  const isSet = place !== null;
  const remove = async () => {
    const { note } = await post<PageSecretRemoved>("secrets/remove", { name });
    notices.changed(`Removed ${name}`, note);
    onDone();
  };
  return (
    <li class="secret">
      <div>
        <Text in="strong" class="tool-name">
          {name}
        </Text>
        <p class="about">
          {isSet ? (place === "keychain" ? "in the system's keychain" : "in a file that only you can read") : null}
          {!isSet && <span class="not-set">not set</span>}
          {setAt !== undefined && (
            <>
              , set <Age at={setAt} />
            </>
          )}
        </p>
        <p class="about">
          {users.length === 0 ? (
            "No config here uses it."
          ) : (
            <>
              Used by{" "}
              {users.map((user, at) => (
                <span key={user}>
                  {at > 0 && ", "}
                  {servers.includes(user) ? (
                    <button type="button" class="in-text" onClick={() => toServer(user)}>
                      <Text>{user}</Text>
                    </button>
                  ) : (
                    <Text>{user}</Text>
                  )}
                </span>
              ))}
            </>
          )}
        </p>
      </div>
      <span class="line-actions">
        <button
          type="button"
          class={isSet ? "" : "primary"}
          aria-expanded={isEdited}
          onClick={() => onEdit(!isEdited)}
          aria-label={`${isSet ? "Replace" : "Set"} ${name}`}
        >
          {isSet ? "Replace" : "Set"}
        </button>
        {isSet && (
          <AskedButton question={users.length > 0 ? "Really? It is used" : "Really remove it?"} action={remove}>
            Remove
          </AskedButton>
        )}
      </span>
      {isEdited && <SecretForm name={name} onDone={onDone} onCancel={() => onEdit(false)} />}
    </li>
  );
}

interface SecretFormProps {
  /** Undefined for a new one. */
  name?: string;
  onDone(): void;
  onCancel(): void;
}

/** The value is sent once, and the form forgets it. */
function SecretForm({ name: given, onDone, onCancel }: SecretFormProps) {
  const notices = useNotices();
  const { isRunning, run } = useAction();
  const [name, setName] = useState(given ?? "");
  const [value, setValue] = useState("");
  const [inFile, setInFile] = useState(false);
  const set = async () => {
    const { where, note } = await post<PageSecretSet>("secrets/set", { name, value, inFile });
    setValue("");
    notices.changed(`Set ${name} in ${where}. Servers use it when they start next.`, note);
    onDone();
  };
  return (
    <SubmitForm class="fields secret-form" autocomplete="off" onSubmit={() => run(set)}>
      {given === undefined && <Field name="Name" example="GITHUB_TOKEN" value={name} onInput={setName} isFocused />}
      <Field
        name="Value"
        help="For a value of several lines, use a terminal: claudikins secrets set NAME < FILE"
        value={value}
        onInput={setValue}
        isHidden
        isFocused={given !== undefined}
      />
      <CheckField class="choice" isChecked={inFile} onChange={setInFile}>
        Keep it in a file, not in the keychain
      </CheckField>
      <div class="actions">
        <button type="submit" class="primary" disabled={isRunning || name === "" || value === ""}>
          {isRunning ? "Setting …" : "Set"}
        </button>
        <button type="button" onClick={onCancel}>
          Cancel
        </button>
      </div>
    </SubmitForm>
  );
}
