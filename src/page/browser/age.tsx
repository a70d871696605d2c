/** Times: ages that change while the page is open, short texts, and the scale that all bars share. */
import { useEffect, useMemo, useState } from "preact/hooks";
import { ageText } from "../../base/duration.ts";
import { dayMs } from "../../base/units.ts";

/** How often the times on the page are looked at. */
const lookMs = 1_000;

/** Everything that shows a time. One timer serves all of it. */
const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;

function listen(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    for (const each of [...listeners]) each();
  }, lookMs);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** A text about the time, which is drawn again only when it changes. */
export function useTimeText(textAt: (now: number) => string, ...parts: readonly unknown[]): string {
  const [, setText] = useState(() => textAt(Date.now()));
  useEffect(() => listen(() => setText(textAt(Date.now()))), parts);
  return textAt(Date.now());
}

/** The time, which changes every second. */
export function useNow(): number {
  const [now, setNow] = useState(Date.now());
  useEffect(() => listen(() => setNow(Date.now())), []);
  return now;
}

/** How long ago something was. The exact time is the title. The first title takes 40 ms, so each is written when a pointer comes. */
export function Age({ at }: { at: number }) {
  const dateTime = useMemo(() => new Date(at).toISOString(), [at]);
  const text = useTimeText((now) => ageText(now - at), at);
  return (
    <time
      dateTime={dateTime}
      onPointerEnter={(event) => {
        event.currentTarget.title = new Date(at).toLocaleString();
      }}
    >
      {text}
    </time>
  );
}

/** The bar is empty for shorter times and full for longer ones, in milliseconds. */
const [shortestMs, longestMs] = [10, 600_000];

/** The part of the track that a time fills, from 0 to 1. The scale is logarithmic, because times differ by orders of magnitude. */
export function barShare(ms: number): number {
  const share = Math.log(Math.max(ms, shortestMs) / shortestMs) / Math.log(longestMs / shortestMs);
  return Math.min(1, Math.max(0.02, share));
}

/** `15:00`, `Tue 15:00` within six days, or `24 Nov`. In the zone of the browser. */
export function shortTime(at: number, now: number): string {
  const date = new Date(at);
  if (Math.abs(at - now) > 6 * dayMs) return date.toLocaleDateString(undefined, { day: "numeric", month: "short" });
  const time = date.toLocaleTimeString(undefined, { hour: "2-digit", minute: "2-digit" });
  const isToday = date.toDateString() === new Date(now).toDateString();
  return isToday ? time : `${date.toLocaleDateString(undefined, { weekday: "short" })} ${time}`;
}
