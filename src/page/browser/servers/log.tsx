/** The last lines of a server's log. New lines appear while it is shown. */
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { visible } from "../../../policy/visible.ts";
import type { PageLogLine } from "../../servers-contract.ts";
import { get } from "../client.ts";
import { Problem, type Reason } from "../problem.tsx";

/** How often the log is read while it is shown. */
const logLookMs = 1_500;

export function ServerLog({ server }: { server: string }) {
  const [lines, setLines] = useState<PageLogLine[]>();
  const [problem, setProblem] = useState<Reason>();
  const box = useRef<HTMLPreElement>(null);
  useEffect(() => {
    const load = () => {
      if (document.visibilityState !== "visible") return;
      get<PageLogLine[]>(`servers/log?${new URLSearchParams({ server })}`).then(setLines, setProblem);
    };
    load();
    const timer = setInterval(load, logLookMs);
    return () => clearInterval(timer);
  }, [server]);
  const last = lines?.at(-1);
  useLayoutEffect(() => {
    if (box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [last?.at, last?.text, lines?.length]);
  if (problem) return <Problem reason={problem} />;
  if (!lines) return null;
  if (lines.length === 0) return <p class="empty">The log is empty. It is written when the server starts.</p>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it is scrolled with the arrow keys.
    <pre class="arguments log" role="log" ref={box} tabIndex={0} aria-label={`Log of ${visible(server)}`}>
      {lines.map(({ at, kind, text }, place) => (
        <span key={`${at} ${place}`} class={`log-line ${kind}`}>
          <time dateTime={new Date(at).toISOString()}>{new Date(at).toLocaleTimeString()}</time> {kind.padEnd(7)}{" "}
          {visible(text)}
          {"\n"}
        </span>
      ))}
    </pre>
  );
}
