/** A chart of one figure over the chosen time, with both axes. */
import { useState } from "preact/hooks";
import { grouped } from "../../../base/counted.ts";
import { durationText } from "../../../base/duration.ts";
import type { PageFigures } from "../../activity-contract.ts";
import { TabName } from "../text.tsx";

type Period = PageFigures["periods"][number];

/** Dates below the axis. */
const maxDates = 8;

const measures = {
  keptOut: { title: "Tokens kept out", text: grouped, color: "" },
  calls: { title: "Calls", text: grouped, color: "" },
  failures: { title: "Failed", text: grouped, color: "bad" },
  durationMs: { title: "Time in tools", text: durationText, color: "" },
} as const;
type Measure = keyof typeof measures;

export function Chart({ periods }: { periods: readonly Period[] }) {
  // Only agents keep tokens out. Without any, the calls are shown first.
  const [chosen, setMeasure] = useState<Measure>();
  const measure = chosen ?? (periods.some(({ keptOut }) => keptOut !== 0) ? "keptOut" : "calls");
  const { title, text, color } = measures[measure];
  const of = (period: Period) => period[measure];
  const top = niceTop(Math.max(0, ...periods.map(of)));
  const bottom = -niceTop(Math.max(0, ...periods.map((each) => -of(each))));
  const height = top - bottom || 1;
  const lines = [...new Set([top, top / 2, 0, bottom])].filter((line) => line !== 0 || top !== 0 || bottom !== 0);
  const step = Math.max(1, Math.ceil(periods.length / maxDates));
  const percent = (value: number) => `${(100 * value) / height}%`;
  return (
    <figure class="chart">
      <figcaption>
        <span class="tabs">
          {Object.entries(measures).map(([each, { title }]) => (
            <button
              key={each}
              type="button"
              aria-pressed={each === measure}
              onClick={() => setMeasure(each as Measure)}
            >
              <TabName>{title}</TabName>
            </button>
          ))}
        </span>
      </figcaption>
      <div class="plot">
        <div class="y-axis" aria-hidden="true">
          {lines.map((line) => (
            <span key={line} style={{ bottom: percent(line - bottom) }}>
              {text(line)}
            </span>
          ))}
        </div>
        <ol>
          {lines.map((line) => (
            <li key={`line ${line}`} class="grid-line" aria-hidden="true" style={{ bottom: percent(line - bottom) }} />
          ))}
          {periods.map((each) => {
            const value = of(each);
            const words = `${each.period}: ${text(value)} ${title.toLowerCase()}, ${grouped(each.calls)} calls`;
            return (
              <li key={each.period} class="period" title={words}>
                <span
                  class={`bar ${value < 0 ? "bad" : color}`}
                  style={{
                    height: value === 0 ? "0" : `max(2px, ${percent(Math.abs(value))})`,
                    bottom: percent(Math.min(0, value) - bottom),
                  }}
                />
                <span class="hidden">{words}</span>
              </li>
            );
          })}
        </ol>
        <div class="x-axis" aria-hidden="true">
          {periods.map(({ period }, place) => (
            <span key={period}>
              {(periods.length - 1 - place) % step === 0 && (
                <span class={dateClass((periods.length - 1 - place) / step)}>{dateText(period)}</span>
              )}
            </span>
          ))}
        </div>
      </div>
      {periods.every((each) => of(each) === 0) && <p class="about">None in this time.</p>}
    </figure>
  );
}

/** `place` counts the dates from the last one. Narrow windows leave every second one out. */
function dateClass(place: number): string {
  if (place === 0) return "is-last";
  return place % 2 === 1 ? "is-extra" : "";
}

/** The next of 1, 2 or 5 times a power of ten. */
function niceTop(value: number): number {
  if (value <= 0) return 0;
  const power = 10 ** Math.floor(Math.log10(value));
  return ([1, 2, 5, 10].find((each) => each * power >= value) ?? 10) * power;
}

/** `23 Nov`, or a month or a year as it is. */
function dateText(period: string): string {
  if (period.length < 10) return period;
  return new Date(`${period}T12:00`).toLocaleDateString(undefined, { day: "numeric", month: "short" });
}
