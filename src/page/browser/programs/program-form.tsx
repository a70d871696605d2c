/** Runs a saved program with an input, now or on a schedule, and shows its result. */
import { useEffect, useState } from "preact/hooks";
import type { PageOutcome, PageProgram, PageScheduled } from "../../programs-contract.ts";
import { OutcomeText, readOutcome } from "../activity/outcome.tsx";
import { post } from "../client.ts";
import { ChoiceField, Field, SubmitForm } from "../field.tsx";
import { Problem, type Reason, useAction, useNotices } from "../notice.tsx";
import { Text } from "../text.tsx";
import { givenTexts, InputFields } from "./input-fields.tsx";
import { timeIn } from "./schedules.tsx";

export function ProgramForm({ program }: { program: PageProgram }) {
  const { name, door, inputs } = program;
  const { isRunning, run } = useAction();
  const [texts, setTexts] = useState<Record<string, string>>({});
  const [started, setStarted] = useState<string>();
  const input = givenTexts(inputs, texts);
  const start = async () => {
    const { execution } = await post<{ execution: string }>("programs/run", { name, door, input });
    setStarted(execution);
  };
  return (
    <section class="part" aria-labelledby="run">
      <h3 id="run">Run</h3>
      <SubmitForm onSubmit={() => run(start)}>
        {inputs.length === 0 && <p class="about">It has no input.</p>}
        <InputFields inputs={inputs} texts={texts} onInput={setTexts} />
        <div class="actions">
          <button type="submit" class="primary" disabled={isRunning}>
            {isRunning ? "Starting …" : "Run now"}
          </button>
        </div>
      </SubmitForm>
      {started !== undefined && <Started key={started} id={started} program={program} />}
      <ScheduleForm program={program} input={input} />
    </section>
  );
}

function ScheduleForm({ program, input }: { program: PageProgram; input: Record<string, string> }) {
  const { name, door } = program;
  const notices = useNotices();
  const { isRunning, run } = useAction();
  const [times, setTimes] = useState(usualTimes);
  const cron = cronOf(times);
  const missing = program.inputs.filter((each) => each.isRequired && !Object.hasOwn(input, each.name));
  const [zone, setZone] = useState(Intl.DateTimeFormat().resolvedOptions().timeZone);
  const [id, setId] = useState("");
  const add = async () => {
    const body = { name, door, input, cron, ...(zone === "" ? {} : { zone }), ...(id === "" ? {} : { id }) };
    const { next, isWatched } = await post<PageScheduled>("programs/schedule", body);
    const hint = isWatched
      ? "To start the daemon when you log in: claudikins daemon enable"
      : "There can be no daemon here, so nothing runs at these times.";
    notices.changed(`Scheduled ${name}${next === undefined ? "" : `. It runs next at ${timeIn(next, zone)}`}`, hint);
    setTimes(usualTimes);
    setId("");
  };
  return (
    <details>
      <summary>Run it at a time</summary>
      <SubmitForm onSubmit={() => run(add)}>
        <TimesFields times={times} onChange={setTimes} />
        <Field name="Time zone" example="Europe/Berlin" value={zone} onInput={setZone} />
        <Field name="Name of the schedule" about="optional" example={name} value={id} onInput={setId} />
        <div class="actions">
          <button type="submit" disabled={isRunning || cron === "" || missing.length > 0}>
            {program.inputs.length === 0 ? "Schedule it" : "Schedule with this input"}
          </button>
          {missing.length > 0 && (
            <span class="about">
              Fill in above first: <Text>{missing.map((each) => each.name).join(", ")}</Text>
            </span>
          )}
        </div>
      </SubmitForm>
    </details>
  );
}

/** A run that was started here: its state, and then how it ended. */
function Started({ id, program: { door, runs } }: { id: string; program: PageProgram }) {
  const run = runs.find((each) => each.id === id);
  const isOver = run?.isOver === true;
  const [outcome, setOutcome] = useState<PageOutcome>();
  const [problem, setProblem] = useState<Reason>();
  useEffect(() => {
    if (!isOver) return;
    readOutcome(id, door).then(setOutcome, setProblem);
  }, [isOver]);
  return (
    <div class="started" role="status">
      <p>
        <span class={`outcome ${run?.kind ?? "running"}`}>{run?.stateText ?? "starting"}</span>
        {run?.kind === "waiting" && " · see Now"}
        {run?.isRecorded && (
          <>
            {" · "}
            <a href={`trace/${id}`} target="_blank" rel="noopener">
              Timeline
            </a>
          </>
        )}
      </p>
      {problem && <Problem reason={problem} />}
      {outcome && <OutcomeText id={id} door={door} outcome={outcome} />}
    </div>
  );
}

const repetitions = {
  day: "every day",
  weekdays: "from Monday to Friday",
  week: "every week",
  month: "every month",
  hour: "every hour",
  cron: "by a cron expression",
} as const;
type Repetition = keyof typeof repetitions;

const weekdays = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"] as const;

interface Times {
  repetition: Repetition;
  /** The hour and the minute, such as 08:00. */
  at: string;
  /** The day of the week; Sunday is 0. */
  weekday: number;
  cron: string;
}

const usualTimes: Times = { repetition: "day", at: "08:00", weekday: 1, cron: "" };

/** The five fields of cron. Empty if something is not chosen yet. */
function cronOf({ repetition, at, weekday, cron }: Times): string {
  if (repetition === "cron") return cron.trim();
  const [hour, minute] = at.split(":").map(Number);
  if (hour === undefined || minute === undefined || !Number.isInteger(hour + minute)) return "";
  const rest = { day: "* * *", weekdays: "* * 1-5", week: `* * ${weekday}`, month: "1 * *", hour: "* * *" };
  return `${minute} ${repetition === "hour" ? "*" : hour} ${rest[repetition]}`;
}

function TimesFields({ times, onChange }: { times: Times; onChange(times: Times): void }) {
  const { repetition, at, weekday, cron } = times;
  return (
    <div class="times-fields">
      <ChoiceField
        name="How often"
        value={repetition}
        choices={repetitions}
        onChoose={(chosen) => onChange({ ...times, repetition: chosen })}
      />
      {repetition === "week" && (
        <ChoiceField
          name="Day"
          value={String(weekday)}
          choices={Object.fromEntries(weekdays.map((name, day) => [day, name]))}
          onChoose={(day) => onChange({ ...times, weekday: Number(day) })}
        />
      )}
      {repetition === "cron" ? (
        <Field
          name="When"
          about="minute, hour, day of the month, month, day of the week"
          example="0 8 * * 1-5"
          value={cron}
          onInput={(text) => onChange({ ...times, cron: text })}
        />
      ) : (
        <label class="field">
          <span>
            {repetition === "month" ? "On the first day, at" : repetition === "hour" ? "At the minute of" : "At"}
          </span>
          <input
            type="time"
            required
            value={at}
            onInput={(event) => onChange({ ...times, at: event.currentTarget.value })}
          />
        </label>
      )}
    </div>
  );
}
