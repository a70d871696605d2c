/** The frame of the page: its head, the views and messages. */

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { PageState } from "../contract.ts";
import { Activity } from "./activity/activity.tsx";
import type { CallQuery } from "./activity/call-log.tsx";
import type { Query } from "./activity/query.ts";
import { Approvals } from "./approvals/approvals.tsx";
import { get } from "./client.ts";
import { type Draft, TryIt } from "./editor/try-it.tsx";
import { Executions } from "./executions.tsx";
import { FiguresView, type Span } from "./figures/figures-view.tsx";
import { FirstVisit } from "./first-visit.tsx";
import { KeysDialog, useKeys } from "./keys.tsx";
import { LeadsContext } from "./leads.ts";
import { follow } from "./live.ts";
import { NoticeBar, NoticeContext, noticeOf, type PageNotice, staysAfterMove, type Undo } from "./notice.tsx";
import { Palette, type PaletteEntry } from "./palette.tsx";
import { People, SignOut } from "./people.tsx";
import {
  type CameFrom,
  type Place,
  programKey,
  usePlace,
  useWantedApproval,
  type View,
  views,
  wantedIn,
} from "./place.ts";
import { Programs } from "./programs/programs.tsx";
import { ScheduleTrouble, troubled } from "./programs/schedules.tsx";
import { Servers } from "./servers/servers.tsx";
import { needsPerson, ServerTrouble } from "./servers/trouble.tsx";
import { System } from "./system/system.tsx";
import { Key, TabName, Text } from "./text.tsx";
import { Tools } from "./tools/tools.tsx";

/** The views of the user of claudikins, of an administrator who has signed in, and of other people who have. */
function viewsOf({ viewer }: PageState): View[] {
  if (!viewer) return ["now", "activity", "servers", "programs", "tools", "figures", "tryIt", "system"];
  return viewer.people ? ["now", "activity", "people"] : ["now", "activity"];
}

type End = "no session" | "ended";

export function App() {
  const [state, setState] = useState<PageState>();
  const [end, setEnd] = useState<End>();
  const { place, go } = usePlace();
  const [query, setQuery] = useState<Query>({});
  const [callQuery, setCallQuery] = useState<CallQuery>(place.calls ? { tool: place.calls } : {});
  const [span, setSpan] = useState<Span>("30");
  const [draft, setDraft] = useState<Draft>({ code: "", replaced: 0 });
  const [notice, setNotice] = useState<PageNotice>();
  const isRead = useRef(false);
  const shownView = useRef(place.view);
  // A message is about the place where something happened.
  useEffect(() => {
    const isOtherView = shownView.current !== place.view;
    shownView.current = place.view;
    setNotice((shown) => (shown && staysAfterMove(shown, isRead.current, isOtherView) ? shown : undefined));
  }, [place]);
  useEffect(() => {
    isRead.current = false;
  }, [notice]);
  /** The last change, and how to take it back, if that can be done. It is kept when the message about it has gone. */
  const [last, setLast] = useState<{ text: string; undo?: Undo | undefined }>();
  const runUndo = () => {
    if (!last) return;
    if (!last.undo) {
      setNotice(said("The last change has no Undo", last.text));
      return;
    }
    setLast(undefined);
    setNotice(undefined);
    last.undo.run();
  };
  const keys = useKeys((number) => {
    const view = state && viewsOf(state)[number];
    if (view) go({ view });
  }, runUndo);
  const notices = useMemo(
    () => ({
      say: (text: string, hint?: string) => setNotice(said(text, hint)),
      changed: (text: string, hint?: string, undo?: Undo) => {
        const run = () => {
          setLast(undefined);
          undo?.run();
        };
        setLast({ text, undo: undo && { what: undo.what, run } });
        const about = `Takes back: ${undo?.what}`;
        setNotice({ ...said(text, hint), action: undo && { title: "Undo", about, key: "U", run } });
      },
      ask: (text: string, hint: string, title: string, run: () => void) =>
        setNotice({ ...said(text, hint), action: { title, run }, isQuestion: true }),
      fail: (error: unknown) => setNotice(noticeOf(error)),
    }),
    [],
  );

  useEffect(() => follow({ onState: setState, onEnd: setEnd }), []);

  const showExecution = (id: string, from: CameFrom = { view: place.view }) => {
    setQuery({});
    go({ view: "activity", execution: id, from, compared: undefined, calls: undefined });
  };
  const showProgram = (key: string) => go({ view: "programs", program: key });
  const replaceDraft = (next: Omit<Draft, "replaced">, done: string) => {
    const replace = (by: typeof next) => setDraft(({ replaced }) => ({ ...by, replaced: replaced + 1 }));
    replace(next);
    if (draft.code.trim() === "" || draft.code === next.code) return;
    // Later, this would take back what was written meanwhile, so only the message has it.
    setNotice({ ...said(done), action: { title: "Undo", run: () => replace(draft) } });
  };
  const edit = (id: string) => {
    get<Pick<Draft, "code" | "door">>(`executions/${id}/source`).then((found) => {
      replaceDraft({ ...found, codeOf: id, ran: id }, "Opened its code in the editor");
      go({ view: "tryIt" });
    }, notices.fail);
  };
  const leads = {
    toExecution: (id: string) => showExecution(id),
    toProgram: showProgram,
    toServer: (server: string) => go({ view: "servers", server }),
    toServers: () => go({ view: "servers" }),
    toEditor: edit,
  };
  const wanted = useWantedApproval(state, notices, () => go({ view: "now" }));
  const back = ({ view, execution, approval, from }: CameFrom) => {
    if (approval !== undefined && state?.approvals.some(({ id }) => id === approval)) wanted.want(approval);
    else go({ view, from, ...(view === "activity" ? { execution } : {}) });
  };
  const waiting = state?.approvals.length ?? 0;
  useEffect(() => {
    document.title = waiting > 0 && end === undefined ? `(${waiting}) claudikins` : "claudikins";
  }, [waiting, end]);

  if (!state) return end === undefined ? <p class="no-session late">Loading …</p> : <NoSession why={end} />;
  const shown = viewsOf(state);
  const view = shown.includes(place.view) ? place.view : "now";
  return (
    <NoticeContext.Provider value={notices}>
      <LeadsContext.Provider value={leads}>
        <header class="top">
          <h1 class="brand">
            claudikins
            <span class={end === undefined ? "live" : "live off"}>{end === undefined ? "live" : "not connected"}</span>
          </h1>
          <Views
            shown={shown}
            current={view}
            counts={{
              now: waiting,
              servers: state.servers.filter(needsPerson).length,
              programs: troubled(state.schedules).length,
            }}
            hasKeys={keys.areOn}
            onChoose={(next) => go({ view: next })}
          />
          <button type="button" class="plain help" onClick={keys.explain}>
            Keys {keys.areOn && <Key>?</Key>}
          </button>
          {state.viewer && end === undefined && <SignOut viewer={state.viewer} onEnd={() => setEnd("no session")} />}
          <NoticeBar
            notice={notice}
            hasKeys={keys.areOn}
            onRead={() => {
              isRead.current = true;
            }}
            onClose={() => setNotice(undefined)}
          />
        </header>
        <main>
          {end !== undefined && <Ended why={end} />}
          {state.problem !== undefined && (
            <p class="warning">
              {state.problem.split("\n").map((line, at) => (
                <span class="line" key={at}>
                  <Text>{line}</Text>
                </span>
              ))}
            </p>
          )}
          <fieldset class={`view ${view}`} disabled={end !== undefined}>
            {view === "now" && (
              <div class="columns">
                <div class="stack">
                  {isFirstVisit(state) && <FirstVisit isDemo={state.config === null} onAdded={leads.toServer} />}
                  {!state.viewer && <ServerTrouble servers={state.servers} onShow={leads.toServer} />}
                  <ScheduleTrouble
                    schedules={state.schedules}
                    onShow={({ program: name, door }) => showProgram(programKey({ name, door }))}
                  />
                  <Approvals
                    state={state}
                    hasKeys={keys.areOn}
                    wanted={wanted.id}
                    onWanted={wanted.want}
                    onExecution={(id, { id: approval }) => showExecution(id, { view: "now", approval })}
                  />
                </div>
                <Executions
                  executions={state.executions}
                  onChoose={leads.toExecution}
                  onAll={() => go({ view: "activity", execution: undefined, compared: undefined, calls: undefined })}
                />
              </div>
            )}
            {view === "activity" && (
              <Activity
                state={state}
                query={query}
                onQuery={setQuery}
                chosen={place.execution}
                onChoose={(id) => go({ execution: id, from: undefined, compared: undefined })}
                from={place.from}
                onFurther={(id) => {
                  const { execution, from } = place;
                  go({ execution: id, from: { view: "activity", execution, from }, compared: undefined });
                }}
                onBack={back}
                compared={place.compared}
                onCompare={(id) => go({ compared: id })}
                calls={place.calls}
                onCalls={(calls) => go({ calls })}
                callQuery={callQuery}
                onCallQuery={setCallQuery}
                hasKeys={keys.areOn}
              />
            )}
            {view === "servers" && (
              <Servers state={state} wanted={place.server} onChoose={(name) => go({ server: name })} />
            )}
            {view === "programs" && (
              <Programs state={state} wanted={place.program} onChoose={(key) => go({ program: key })} />
            )}
            {view === "figures" && (
              <FiguresView
                span={span}
                onSpan={setSpan}
                mark={state.executions.filter(({ isOver }) => isOver)[0]?.id ?? ""}
                onTool={(tool) => {
                  setCallQuery({ tool });
                  go({ view: "activity", execution: undefined, compared: undefined, calls: tool });
                }}
              />
            )}
            {view === "tools" && <Tools state={state} />}
            {view === "tryIt" && (
              <TryIt
                state={state}
                draft={draft}
                onChange={(part) => setDraft((before) => ({ ...before, ...part }))}
                onReplace={replaceDraft}
                onApproval={wanted.want}
              />
            )}
            {view === "system" && <System state={state} />}
            {view === "people" && state.viewer?.people && <People people={state.viewer.people} />}
          </fieldset>
        </main>
        <footer>
          <p>
            {!state.viewer && (
              <>
                Config: <Text>{state.configText}</Text> ·{" "}
              </>
            )}
            claudikins {state.version}
          </p>
          {!state.viewer && <p>The daemon keeps running while this page is open.</p>}
        </footer>
        <Palette
          entries={[
            ...(last?.undo ? [{ kind: "undo", name: last.undo.what, go: runUndo }] : []),
            ...entriesOf(state, go),
          ]}
        />
        <KeysDialog keys={keys} views={shown.map((name) => views[name])} />
      </LeadsContext.Provider>
    </NoticeContext.Provider>
  );
}

function said(text: string, hint?: string): PageNotice {
  return { text, hint, isFailure: false, at: performance.now() };
}

/** Whether the user has no servers: there is only the demo, or nothing. */
function isFirstVisit({ config, servers, viewer }: PageState): boolean {
  return !viewer && (config === null || servers.length === 0);
}

/** The places to which the command palette leads. */
function entriesOf(state: PageState, go: (change: Partial<Place>) => void): PaletteEntry[] {
  return [
    ...viewsOf(state).map((view) => ({ kind: "view", name: views[view], go: () => go({ view }) })),
    ...state.servers.map(({ name }) => ({ kind: "server", name, go: () => go({ view: "servers", server: name }) })),
    ...state.programs.map((program) => ({
      kind: program.door === undefined ? "program" : `program of the door ${program.door}`,
      name: program.name,
      go: () => go({ view: "programs", program: programKey(program) }),
    })),
  ];
}

interface ViewsProps {
  shown: readonly View[];
  current: View;
  /** Number of items in each view that need attention. */
  counts: Partial<Record<View, number>>;
  hasKeys: boolean;
  onChoose(view: View): void;
}

function Views({ shown, current, counts, hasKeys, onChoose }: ViewsProps) {
  return (
    <nav aria-label="Views">
      {shown.map((name, place) => (
        <button
          type="button"
          key={name}
          aria-current={name === current ? "page" : undefined}
          aria-keyshortcuts={hasKeys ? String(place + 1) : undefined}
          onClick={() => onChoose(name)}
        >
          <TabName>{views[name]}</TabName>
          {(counts[name] ?? 0) > 0 && <span class="count">{counts[name]}</span>}
          {hasKeys && <Key>{String(place + 1)}</Key>}
        </button>
      ))}
    </nav>
  );
}

/** The address at which people sign in to `serve --http`. Undefined on the page of `claudikins ui`. */
const signInAt = document.getElementById("page")?.dataset["signIn"];

/** A sign-in leads back to the approval that the address names. */
function signInLink(at: string): string {
  const id = wantedIn(location);
  return id === undefined ? at : `${at}?approval=${id}`;
}

/** The page without a session. */
export function NoSession({ why }: { why: End | { problem: string; hint?: string | undefined } }) {
  if (signInAt !== undefined) {
    return (
      <main class="no-session">
        <h1>claudikins</h1>
        <p>
          <a class="button primary" href={signInLink(signInAt)}>
            Sign in
          </a>
        </p>
      </main>
    );
  }
  return (
    <main class="no-session">
      <h1>claudikins</h1>
      {typeof why === "object" && <Text in="p">{why.problem}</Text>}
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

function Ended({ why }: { why: End }) {
  if (signInAt !== undefined) {
    return (
      <p class="warning" role="alert">
        {why === "ended" ? "The server has ended." : "Your session has ended."} What you see is no longer current.{" "}
        <a href={signInLink(signInAt)}>Sign in</a>
      </p>
    );
  }
  return (
    <p class="warning" role="alert">
      {why === "ended" ? "The daemon has ended." : "The session of this page has ended."} What you see is no longer
      current. To open the page again: <code>claudikins ui</code>
    </p>
  );
}
