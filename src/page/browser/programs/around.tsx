/** The tests of a saved program, what starts it, and what became of the events. */

import { useState } from "preact/hooks";
import { counted } from "../../../base/counted.ts";
import { durationText } from "../../../base/duration.ts";
import type { PageDelivery, PageProgram, PageProgramAbout, PageTested } from "../../programs-contract.ts";
import { Age, shortTime } from "../age.tsx";
import { AskedButton } from "../asked-button.tsx";
import { get, post } from "../client.ts";
import { useLeads } from "../leads.ts";
import { useAction, useLoaded, useNotices } from "../notice.tsx";
import { Text } from "../text.tsx";
import { NewNotification } from "./new-notification.tsx";
import { NewTest, NewTrigger } from "./new-trigger.tsx";

interface AroundProps {
  program: PageProgram;
}

export function Around({ program }: AroundProps) {
  const { name, door, runs, savedAt } = program;
  const search = new URLSearchParams({ name, ...(door === undefined ? {} : { door }) });
  const path = `programs/about?${search}`;
  const [about, setAbout] = useLoaded<PageProgramAbout>(path, JSON.stringify([savedAt, runs]));
  if (!about) return null;
  const { recordings, triggers, notifications, deliveries, modelCalls } = about;
  const reload = async () => setAbout(await get<PageProgramAbout>(path));
  return (
    <>
      <Tests program={program} recordings={recordings} onMade={reload} />
      {modelCalls !== undefined && (
        <p class={modelCalls === 0 ? "outcome bad" : "about"}>
          {modelCalls === 0
            ? "It asks a model, which programs may not do. "
            : `It may ask a model, ${modelCalls} times in a run. `}
          <code>"askModel"</code> in claudikins.json decides that.
        </p>
      )}
      <StartsAfterEvents program={program} triggers={triggers} onChanged={reload} />
      <Notifications notifications={notifications} name={name} door={door} onChanged={reload} />
      {deliveries.length > 0 && <Deliveries deliveries={deliveries} door={door} onRetried={reload} />}
    </>
  );
}

interface TestsProps {
  program: PageProgram;
  recordings: readonly string[];
  onMade(): Promise<void>;
}

function Tests({ program, recordings, onMade }: TestsProps) {
  const { name, door } = program;
  const { isRunning, run } = useAction();
  const [tested, setTested] = useState<PageTested[]>();
  const test = () => run(async () => setTested(await post<PageTested[]>("programs/test", { name, door })));
  const failed = tested?.filter(({ ok }) => !ok).length ?? 0;
  return (
    <section class="part" aria-labelledby="tests">
      <div class="part-head">
        <h3 id="tests">Tests</h3>
        {recordings.length > 0 && (
          <button type="button" disabled={isRunning} onClick={() => void test()}>
            {isRunning ? "Testing …" : `Run ${counted(recordings.length, "test")}`}
          </button>
        )}
      </div>
      {recordings.length === 0 && (
        <p class="empty">It has no test. A test is a recording of one run, which is replayed without any server.</p>
      )}
      {recordings.length > 0 && !tested && (
        <p class="about">A test replays a recording without any server, and says what has changed.</p>
      )}
      {tested && (
        <p class={`outcome ${failed > 0 ? "bad" : "good"}`} role="status">
          {failed > 0 ? `${failed} of ${counted(tested.length, "test")} failed` : "All tests passed"}
        </p>
      )}
      <ul class="lines">
        {tested?.map((each) => (
          <Tested key={each.recording} tested={each} />
        ))}
      </ul>
      <NewTest program={program} onMade={onMade} />
    </section>
  );
}

function Tested({ tested: { recording, ok, durationMs, differences, more, problem } }: { tested: PageTested }) {
  return (
    <li>
      <span>
        <span class={`outcome ${ok ? "good" : "bad"}`}>{ok ? "passed" : "failed"}</span> <Text>{recording}</Text>{" "}
        <span class="about">{durationText(durationMs)}</span>
        {problem !== undefined && <Text in="p">{problem}</Text>}
        {differences.map((text) => (
          <Text key={text} in="p">
            {text}
          </Text>
        ))}
        {more > 0 && <p class="about">{counted(more, "more difference")}</p>}
      </span>
    </li>
  );
}

interface TriggersProps extends Pick<PageProgramAbout, "triggers"> {
  program: PageProgram;
  onChanged(): Promise<void>;
}

function StartsAfterEvents({ program, triggers, onChanged }: TriggersProps) {
  const notices = useNotices();
  const remove = async (id: string) => {
    await post("programs/off", { name: id, door: program.door });
    notices.changed(`Removed the trigger ${id}, with its events that were not begun`);
    await onChanged();
  };
  return (
    <section class="part" aria-labelledby="triggers">
      <h3 id="triggers">Starts after events</h3>
      {triggers.length === 0 && <p class="empty">No event starts it.</p>}
      <ul class="lines">
        {triggers.map(({ id, source, filter, perMinute }) => (
          <li key={id}>
            <span>
              <Text in="strong">{id}</Text> <Text>{source}</Text>
              {filter !== undefined && (
                <>
                  , if <Text in="code">{filter}</Text>
                </>
              )}
              <span class="about"> at most {perMinute} a minute</span>
            </span>
            <span class="line-actions">
              <AskedButton question={`Really remove the trigger ${id}?`} action={() => remove(id)}>
                Remove
              </AskedButton>
            </span>
          </li>
        ))}
      </ul>
      <NewTrigger program={program} onMade={onChanged} />
    </section>
  );
}

interface NotificationsProps extends Pick<PageProgramAbout, "notifications"> {
  name: string;
  door: string | undefined;
  onChanged(): Promise<void>;
}

function Notifications({ notifications, name, door, onChanged }: NotificationsProps) {
  const { isRunning, run } = useAction();
  const change = (path: string, body: object) =>
    run(async () => {
      await post(path, { ...body, door });
      await onChanged();
    });
  const add = () =>
    change("programs/notify", { name, when: ["failed", "waiting"], receiver: { agent: true }, ...withoutMore });
  return (
    <section class="part" aria-labelledby="notifications">
      <div class="part-head">
        <h3 id="notifications">Tells others</h3>
        <button type="button" disabled={isRunning} onClick={() => void add()}>
          Tell my agents
        </button>
      </div>
      {notifications.length === 0 && (
        <p class="empty">
          Only your agents are told what becomes of it: in their next session, if it failed or waits for you.
        </p>
      )}
      <ul class="lines">
        {notifications.map(({ id, text, filter }) => (
          <li key={id}>
            <span>
              <Text in="strong">{id}</Text> <Text>{filter === undefined ? text : `${text}, if ${filter}`}</Text>
            </span>
            <span class="line-actions">
              <button
                type="button"
                disabled={isRunning}
                aria-label={`Remove the notification ${id}`}
                onClick={() => void change("programs/off", { name: id })}
              >
                Remove
              </button>
            </span>
          </li>
        ))}
      </ul>
      <NewNotification name={name} door={door} onMade={onChanged} />
    </section>
  );
}

/** A notification of the agents has no values. */
const withoutMore = { hasContents: false, values: {}, map: {} };

interface DeliveriesProps {
  deliveries: readonly PageDelivery[];
  door: string | undefined;
  onRetried(): Promise<void>;
}

const kinds: Record<PageDelivery["state"], string> = {
  waiting: "waiting",
  running: "running",
  done: "good",
  failed: "waiting",
  dead: "bad",
};

function Deliveries({ deliveries, door, onRetried }: DeliveriesProps) {
  const { toExecution } = useLeads();
  const notices = useNotices();
  const { isRunning, run } = useAction();
  const retry = (delivery: string) =>
    run(async () => {
      await post("programs/retry", { delivery, door });
      notices.changed("The event begins again");
      await onRetried();
    });
  return (
    <section class="part" aria-labelledby="deliveries">
      <h3 id="deliveries">Events</h3>
      <ul class="lines">
        {deliveries.map(({ id, trigger, state, attempts, at, nextAt, execution, message }) => (
          <li key={id}>
            <span>
              <span class={`outcome ${kinds[state]}`}>{state}</span> <Text>{trigger}</Text>{" "}
              <span class="about">
                came <Age at={at} />
                {attempts > 1 && `, ${attempts} attempts`}
                {nextAt !== undefined && `, again at ${shortTime(nextAt, Date.now())}`}
              </span>
              {message !== undefined && <Text in="p">{message}</Text>}
            </span>
            <span class="line-actions">
              {execution !== undefined && (
                <button type="button" onClick={() => toExecution(execution)}>
                  Show
                </button>
              )}
              {state === "dead" && (
                <button type="button" disabled={isRunning} onClick={() => void retry(id)}>
                  Run again
                </button>
              )}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
