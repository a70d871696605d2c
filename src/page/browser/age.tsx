/** Times that change while the page is open. */
import { useEffect, useState } from "preact/hooks";
import { ageText } from "../../base/duration.ts";

/** How often the ages on the page are drawn again. */
const agesRedrawMs = 1_000;

/** The time, which changes every second. */
export function useNow(): number {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), agesRedrawMs);
    return () => clearInterval(timer);
  }, []);
  return now;
}

/** How long ago something was. The exact time is the title. */
export function Age({ at }: { at: number }) {
  return (
    <time dateTime={new Date(at).toISOString()} title={new Date(at).toLocaleString()}>
      {ageText(useNow() - at)}
    </time>
  );
}
