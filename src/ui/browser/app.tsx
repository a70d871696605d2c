/** The frame of the page: its head, the views, messages, and the keys that work everywhere. */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { State } from "../contract.ts";
import { Approvals } from "./approvals.tsx";
import { Executions } from "./executions.tsx";
import { follow } from "./live.ts";
import { type Notice, NoticeBar, NoticeContext, noticeOf } from "./notice.tsx";
import { isCommand } from "./roving.ts";
import { SavingsView } from "./savings.tsx";
import { Servers } from "./servers.tsx";
import { Key, Text } from "./text.tsx";

const views = { now: "Now", servers: "Servers", saved: "Saved" } as const;
type View = keyof typeof views;

/** Whether single keys are commands. The only thing that the browser stores. */
const keysItem = "claudikins-keys";

export function App() {
  const [state, setState] = useState<State>();
  const [end, setEnd] = useState<"no session" | "ended">();
  const [view, setView] = useState<View>("now");
  const [notice, setNotice] = useState<Notice>();
  const [hasKeys, setHasKeys] = useState(localStorage.getItem(keysItem) !== "off");
  const help = useRef<HTMLDialogElement>(null);
  const notices = useMemo(
    () => ({
      say: (text: string, hint?: string) => setNotice({ text, hint, isFailure: false }),
      fail: (error: unknown) => setNotice(noticeOf(error)),
    }),
    [],
  );

  useEffect(() => follow({ onState: setState, onEnd: setEnd }), []);

  const waiting = state?.approvals.length ?? 0;
  useEffect(() => {
    document.title = waiting > 0 && end === undefined ? `(${waiting}) claudikins` : "claudikins";
  }, [waiting, end]);

  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (!hasKeys || !isCommand(event) || help.current?.open) return;
      const wanted = Object.keys(views)[Number(event.key) - 1] as View | undefined;
      const filter = document.getElementById("filter");
      if (wanted) setView(wanted);
      else if (event.key === "?") help.current?.showModal();
      else if (event.key === "/" && filter) {
        event.preventDefault();
        filter.focus();
      }
    };
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  }, [hasKeys]);

  if (!state) return end === undefined ? <p class="door">Loading …</p> : <Door why={end} />;
  return (
    <NoticeContext.Provider value={notices}>
      <header class="top">
        <p class="brand">
          claudikins
          <span class={end === undefined ? "live" : "live off"}>{end === undefined ? "live" : "not connected"}</span>
        </p>
        <nav aria-label="Views">
          {Object.entries(views).map(([name, title], place) => (
            <button
              type="button"
              key={name}
              aria-current={name === view ? "page" : undefined}
              aria-keyshortcuts={hasKeys ? String(place + 1) : undefined}
              onClick={() => setView(name as View)}
            >
              {title}
              {name === "now" && waiting > 0 && <span class="count">{waiting}</span>}
              {hasKeys && <Key>{String(place + 1)}</Key>}
            </button>
          ))}
        </nav>
        <button type="button" class="plain help" onClick={() => help.current?.showModal()}>
          Keys {hasKeys && <Key>?</Key>}
        </button>
      </header>
      <main>
        {end !== undefined && <Ended why={end} />}
        {state.problem !== undefined && (
          <p class="warning">
            <Text>{state.problem}</Text>
          </p>
        )}
        <NoticeBar notice={notice} onClose={() => setNotice(undefined)} />
        <fieldset class="view" disabled={end !== undefined}>
          {view === "now" && (
            <div class="columns">
              <Approvals state={state} hasKeys={hasKeys} />
              <Executions executions={state.executions} />
            </div>
          )}
          {view === "servers" && <Servers state={state} />}
          {view === "saved" && <SavingsView savings={state.savings} />}
        </fieldset>
      </main>
      <footer>
        <p>
          Config: <Text>{state.configText}</Text> · claudikins {state.version}
        </p>
        <p>The daemon keeps running while this page is open.</p>
      </footer>
      <dialog ref={help} aria-labelledby="keys">
        <h2 id="keys">Keys</h2>
        <dl>
          <dt>
            <kbd>1</kbd> <kbd>2</kbd> <kbd>3</kbd>
          </dt>
          <dd>Now, Servers, Saved</dd>
          <dt>
            <kbd>↑</kbd> <kbd>↓</kbd> <kbd>Home</kbd> <kbd>End</kbd>
          </dt>
          <dd>Move in a list</dd>
          <dt>
            <kbd>A</kbd> <kbd>S</kbd> <kbd>D</kbd>
          </dt>
          <dd>Approve the focused call once, approve it for the session, deny it</dd>
          <dt>
            <kbd>/</kbd>
          </dt>
          <dd>Filter tools</dd>
          <dt>
            <kbd>?</kbd>
          </dt>
          <dd>Show these keys</dd>
        </dl>
        <label>
          <input
            type="checkbox"
            checked={hasKeys}
            onChange={(event) => {
              const isOn = event.currentTarget.checked;
              localStorage.setItem(keysItem, isOn ? "on" : "off");
              setHasKeys(isOn);
            }}
          />{" "}
          Single keys are commands
        </label>
        <form class="dialog-end" method="dialog">
          <button type="submit">Close</button>
        </form>
      </dialog>
    </NoticeContext.Provider>
  );
}

/** Without a session. */
export function Door({ why }: { why: "no session" | "ended" | { problem: string; hint?: string | undefined } }) {
  return (
    <main class="door">
      <h1>claudikins</h1>
      {typeof why === "object" && (
        <p>
          <Text>{why.problem}</Text>
        </p>
      )}
      <p>
        {typeof why === "object" && why.hint !== undefined ? <Text>{why.hint}</Text> : null}
        {typeof why !== "object" && "Open this page with:"}
      </p>
      <p>
        <code>claudikins ui</code>
      </p>
    </main>
  );
}

function Ended({ why }: { why: "no session" | "ended" }) {
  return (
    <p class="warning" role="alert">
      {why === "ended" ? "The daemon has ended." : "The session of this page has ended."} What you see is no longer
      current. To open the page again: <code>claudikins ui</code>
    </p>
  );
}
