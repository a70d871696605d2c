/** The people who have signed in, for administrators, and the end of the viewer's own session. */
import type { PagePerson, PageViewer, SignedOut } from "../contract.ts";
import { Age } from "./age.tsx";
import { ChangeButton } from "./asked-button.tsx";
import { post } from "./client.ts";
import { useAction, useNotices } from "./notice.tsx";
import { Panel } from "./panel.tsx";
import { Text } from "./text.tsx";

export function People({ people }: { people: PagePerson[] }) {
  return (
    <Panel id="people" title="People">
      <ul class="rows">
        {people.map((person) => (
          <Row key={person.id} person={person} />
        ))}
      </ul>
    </Panel>
  );
}

function Row({ person }: { person: PagePerson }) {
  const { id, name, doors, lastAt, isRevoked, isDeleted, isViewer } = person;
  return (
    <li class="row" title={id}>
      <span class={`dot ${isRevoked ? "bad" : "good"}`} aria-hidden="true" />
      <span class="row-text">
        <span>
          <Text>{name}</Text>
          {isViewer && " (you)"}
          {isRevoked && (isDeleted ? " · deleted" : " · revoked")}
        </span>
        {!isDeleted && (
          <span class="about">
            has used <Text>{doors.join(", ")}</Text>
          </span>
        )}
      </span>
      <span class="times">
        <Age at={lastAt} />
      </span>
      {isRevoked ? <Restore person={person} /> : <Revoke person={person} />}
      {isRevoked && !isDeleted && <Delete person={person} />}
    </li>
  );
}

/** The button asks first, because revoking ends everything that the person has begun. */
function Revoke({ person: { id, name } }: { person: PagePerson }) {
  return (
    <ChangeButton question="Really revoke?" path="people/revoke" body={{ id }} said={`Revoked the access of ${name}`}>
      Revoke
    </ChangeButton>
  );
}

/** The button asks first, because deleted data cannot be restored. */
function Delete({ person: { id, name } }: { person: PagePerson }) {
  const said = `Deleted the data of ${name}`;
  return (
    <ChangeButton question="Really delete everything?" path="people/delete" body={{ id }} said={said}>
      Delete
    </ChangeButton>
  );
}

function Restore({ person: { id, name } }: { person: PagePerson }) {
  const notices = useNotices();
  const { isRunning, run } = useAction();
  const restore = async () => {
    await post("people/restore", { id });
    notices.say(`${name} may sign in again`);
  };
  return (
    <button type="button" disabled={isRunning} onClick={() => void run(restore)}>
      Restore
    </button>
  );
}

export function SignOut({ viewer, onEnd }: { viewer: PageViewer; onEnd(): void }) {
  const { isRunning, run } = useAction();
  const signOut = async () => {
    const more = await post<SignedOut | undefined>("sign-out", {});
    onEnd();
    if (more) location.assign(more.to);
  };
  return (
    <button type="button" class="plain" disabled={isRunning} onClick={() => void run(signOut)}>
      Sign out <Text>{viewer.name}</Text>
    </button>
  );
}
