/** The schedules of saved programs, and their problems. */
import { counted } from "../../../base/counted.ts";
import type { PageSchedule, PageScheduledRun } from "../../programs-contract.ts";
import { Age } from "../age.tsx";
import { ChangeButton } from "../asked-button.tsx";
import { Panel } from "../panel.tsx";
import { Quoted, Text } from "../text.tsx";

export function ProgramSchedules({ schedules }: { schedules: PageSchedule[] }) {
  if (schedules.length === 0) return null;
  return (
    <section class="part" aria-labelledby="schedules">
      <h3 id="schedules">Schedules</h3>
      <p class="about">
        They run while the daemon runs, which this page keeps running. To start it when you log in:{" "}
        <code>claudikins daemon enable</code>
      </p>
      <ul class="lines">
        {schedules.map((schedule) => (
          <Line key={schedule.id} schedule={schedule} />
        ))}
      </ul>
    </section>
  );
}

function Line({ schedule }: { schedule: PageSchedule }) {
  const { id, door, cron, times, zone, input, next, lastRun } = schedule;
  const change = { path: "programs/unschedule", body: { name: id, door }, said: `Ended the schedule ${id}` };
  return (
    <li>
      <span>
        <Text in="strong">{id}</Text> <Text>{times}</Text> (<Text>{zone}</Text>, <Text in="code">{cron}</Text>)
        {next !== undefined && <>, next {timeIn(next, zone)}</>}
        {input !== "{}" && (
          <span class="about">
            {" "}
            <Text>{input}</Text>
          </span>
        )}
        {lastRun && (
          <div class="about">
            Last run: <RunWords run={lastRun} />
          </div>
        )}
      </span>
      <ChangeButton question="Really end it?" {...change}>
        Unschedule
      </ChangeButton>
    </li>
  );
}

/** A time in the zone of a schedule. */
export function timeIn(at: number, zone: string): string {
  const form = { dateStyle: "medium", timeStyle: "short" } as const;
  try {
    return new Intl.DateTimeFormat(undefined, { ...form, timeZone: zone }).format(at);
  } catch {
    // The browser does not know the zone.
    return new Intl.DateTimeFormat(undefined, form).format(at);
  }
}

function RunWords({ run: { startedAt, execution, missed, ok, message } }: { run: PageScheduledRun }) {
  const kind = ok === undefined ? "running" : ok ? "good" : "bad";
  return (
    <>
      <span class={`outcome ${kind}`}>{ok === undefined ? "not done yet" : ok ? "ok" : "failed"}</span>{" "}
      <Age at={startedAt} />
      {missed > 0 && `, after ${counted(missed, "missed time")}`}
      {execution !== undefined && ok !== undefined && (
        <>
          {" · "}
          <a href={`trace/${execution}`} target="_blank" rel="noopener">
            Timeline
          </a>
        </>
      )}
      {message !== undefined && (
        <Quoted caption="Its error:">
          <Text>{message}</Text>
        </Quoted>
      )}
    </>
  );
}

/** Schedules whose last run failed, or replaced missed runs. */
export function troubled(schedules: readonly PageSchedule[]): PageSchedule[] {
  return schedules.filter(({ lastRun }) => lastRun && (lastRun.ok === false || lastRun.missed > 0));
}

interface TroubleProps {
  schedules: PageSchedule[];
  /** Shows the program. */
  onShow(schedule: PageSchedule): void;
}

/** Nothing is shown if there is no trouble. */
export function ScheduleTrouble({ schedules, onShow }: TroubleProps) {
  const found = troubled(schedules);
  if (found.length === 0) return null;
  return (
    <Panel
      id="trouble"
      title={
        <>
          Scheduled programs <span class="count">{found.length}</span>
        </>
      }
    >
      <ul class="cards">
        {found.map((schedule) => {
          const { id, program, door, lastRun } = schedule;
          return (
            <li key={JSON.stringify([door, id])} class={lastRun?.ok === false ? "card trouble failed" : "card trouble"}>
              <div>
                <Text in="h3">{program}</Text>
                <Text in="p" class="about">
                  {[id === program ? "" : `schedule ${id}`, door && `door ${door}`].filter(Boolean).join(" · ")}
                </Text>
                <div>{lastRun && <RunWords run={lastRun} />}</div>
              </div>
              <button type="button" onClick={() => onShow(schedule)}>
                Show the program
              </button>
            </li>
          );
        })}
      </ul>
    </Panel>
  );
}
