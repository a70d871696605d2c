/** For administrators: the people who have signed in, the groups, limits and deletion. For everybody who has signed in: the end of the viewer's own session. */

import { useState } from "preact/hooks";
import { counted, grouped } from "../../base/counted.ts";
import { waitText } from "../../base/duration.ts";
import type { PageAdministration, PagePerson, PagePersonAbout, PageQuota, PageViewer, SignedOut } from "../contract.ts";
import { Age, useNow } from "./age.tsx";
import { ChangeButton } from "./asked-button.tsx";
import { post } from "./client.ts";
import { useLooked } from "./looked.ts";
import { Problem, useAction, useLoaded, useNotices } from "./notice.tsx";
import { Panel } from "./panel.tsx";
import { Fact, Text } from "./text.tsx";

export function People({ people }: { people: PagePerson[] }) {
  const [chosen, setChosen] = useState<string>();
  return (
    <div class="columns">
      <Panel id="people" title="People">
        <p class="about">
          Everybody who has signed in. The calls of all are in Activity, under Calls. In a terminal:{" "}
          <code>claudikins people</code>
        </p>
        <ul class="lines">
          {people.map((person) => (
            <Row
              key={person.id}
              person={person}
              isChosen={person.id === chosen}
              onChoose={(isChosen) => setChosen(isChosen ? person.id : undefined)}
            />
          ))}
        </ul>
      </Panel>
      <Administration />
    </div>
  );
}

interface RowProps {
  person: PagePerson;
  isChosen: boolean;
  onChoose(isChosen: boolean): void;
}

function Row({ person, isChosen, onChoose }: RowProps) {
  const { id, name, doors, lastAt, isRevoked, isDeleted, isViewer } = person;
  return (
    <li class="person" title={id}>
      <div>
        <span class={`dot ${isRevoked ? "bad" : "good"}`} aria-hidden="true" /> <Text in="strong">{name}</Text>
        {isViewer && " (you)"}
        {isRevoked && (isDeleted ? " · deleted" : " · revoked")}
        {!isDeleted && (
          <p class="about">
            has used <Text>{doors.join(", ")}</Text> · was here <Age at={lastAt} />
          </p>
        )}
      </div>
      <span class="line-actions">
        {!isDeleted && (
          <button type="button" aria-expanded={isChosen} onClick={() => onChoose(!isChosen)}>
            Details
          </button>
        )}
        {isRevoked ? <Restore person={person} /> : <Revoke person={person} />}
        {isRevoked && !isDeleted && <Delete person={person} />}
      </span>
      {isChosen && <About id={id} />}
    </li>
  );
}

function About({ id }: { id: string }) {
  const [about] = useLoaded<PagePersonAbout>(`people/about?${new URLSearchParams({ id })}`, undefined);
  if (!about) return <p class="about person-about">Loading …</p>;
  const { email, firstAt, groups, hasDirectory, sessions, calls, credentials } = about;
  return (
    <dl class="facts person-about">
      {email !== undefined && <Fact name="Address">{<Text>{email}</Text>}</Fact>}
      <Fact name="Came first">
        <Age at={firstAt} />
      </Fact>
      <Fact name={hasDirectory ? "Groups in the newest token, which do not count" : "Groups in the newest token"}>
        {groups === undefined ? (
          "unknown"
        ) : (
          <>
            <Text>{groups.names.join(", ") || "none"}</Text>{" "}
            <span class="about">
              issued <Age at={groups.at} />
            </span>
          </>
        )}
      </Fact>
      <Fact name="Open sessions of agents">{String(sessions)}</Fact>
      <Fact name={`Calls of ${calls.days} days`}>
        {calls.calls === 0
          ? "none"
          : `${grouped(calls.calls)}, ${grouped(calls.failures)} failed, in ${counted(calls.executions, "execution")}`}
      </Fact>
      {credentials.length > 0 && (
        <Fact name="Has signed in to">
          <Text>{credentials.join(", ")}</Text>
        </Fact>
      )}
    </dl>
  );
}

/** The groups behind each right, the limits with their use, and how long data is kept. */
function Administration() {
  const { found, problem } = useLooked<PageAdministration>("administration");
  if (!found) return problem ? <Problem reason={problem} /> : <p class="about">Loading …</p>;
  const { rights, quotas, keepDays } = found;
  return (
    <div class="stack">
      <Panel id="groups" title="Groups">
        <dl class="rights">
          {rights.map(({ right, groups }) => (
            <div key={right}>
              <Text in="dt">{right}</Text>
              <dd>
                {groups.includes("*") ? "everybody who has signed in" : <Text>{groups.join(", ") || "nobody"}</Text>}
              </dd>
            </div>
          ))}
        </dl>
      </Panel>
      <Panel id="limits" title="Limits">
        {quotas.length === 0 && <p class="empty">The config has no quotas, so use is not limited.</p>}
        <ul class="lines">
          {quotas.map((quota) => (
            <Quota key={`${quota.owner} ${quota.text}`} quota={quota} />
          ))}
        </ul>
      </Panel>
      <Panel id="deletion" title="Deletion">
        <p>
          {keepDays === undefined
            ? "People are kept until an administrator revokes and deletes them."
            : `Everything that is kept of a person who was not here for ${counted(keepDays, "day")} is deleted.`}
        </p>
        <p class="about">
          Executions, approvals, calls, programs, credentials and files of the person go. The audit log keeps its lines.
        </p>
      </Panel>
    </div>
  );
}

function Quota({ quota: { owner, text, limit, used, to } }: { quota: PageQuota }) {
  const now = useNow();
  const isFull = used !== undefined && used >= limit;
  return (
    <li>
      <div class="quota">
        <Text in="strong">{owner}</Text>: {text}
        {used !== undefined && (
          <>
            <progress aria-label={`Used of ${text}`} max={limit} value={Math.min(used, limit)} />
            <p class={isFull ? "about not-set" : "about"}>
              {grouped(Math.round(used))} of {grouped(limit)} used
              {to !== undefined && `, starts again in ${waitText(Math.max(to - now, 0))}`}
            </p>
          </>
        )}
      </div>
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
    notices.changed(`${name} may sign in again`);
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
