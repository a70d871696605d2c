/** The times of a schedule: a choice of usual ones, or a cron expression. */
import { Field } from "../field.tsx";

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

export interface Times {
  repetition: Repetition;
  /** The hour and the minute, such as 08:00. */
  at: string;
  /** The day of the week; Sunday is 0. */
  weekday: number;
  cron: string;
}

export const usualTimes: Times = { repetition: "day", at: "08:00", weekday: 1, cron: "" };

/** The five fields of cron. Empty if something is not chosen yet. */
export function cronOf({ repetition, at, weekday, cron }: Times): string {
  if (repetition === "cron") return cron.trim();
  const [hour, minute] = at.split(":").map(Number);
  if (hour === undefined || minute === undefined || !Number.isInteger(hour + minute)) return "";
  const rest = { day: "* * *", weekdays: "* * 1-5", week: `* * ${weekday}`, month: "1 * *", hour: "* * *" };
  return `${minute} ${repetition === "hour" ? "*" : hour} ${rest[repetition]}`;
}

export function TimesFields({ times, onChange }: { times: Times; onChange(times: Times): void }) {
  const { repetition, at, weekday, cron } = times;
  return (
    <div class="times-fields">
      <label class="field">
        <span>How often</span>
        <select
          value={repetition}
          onChange={(event) => onChange({ ...times, repetition: event.currentTarget.value as Repetition })}
        >
          {Object.entries(repetitions).map(([value, words]) => (
            <option key={value} value={value}>
              {words}
            </option>
          ))}
        </select>
      </label>
      {repetition === "week" && (
        <label class="field">
          <span>Day</span>
          <select
            value={weekday}
            onChange={(event) => onChange({ ...times, weekday: Number(event.currentTarget.value) })}
          >
            {weekdays.map((name, day) => (
              <option key={name} value={day}>
                {name}
              </option>
            ))}
          </select>
        </label>
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
