/**
 * The place that the page shows: a view, and the chosen item of each view. The browser's history keeps it, for Back and for a reload. An address
 * can lead to an approval: `#approval=ID`, or `?approval=ID` in a link, which survives a sign-in.
 */
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { PageApproval, PageState } from "../contract.ts";
import { get } from "./client.ts";
import type { Notices } from "./notice.tsx";

export const views = {
  now: "Now",
  activity: "Activity",
  servers: "Servers",
  programs: "Programs",
  tools: "Tools",
  figures: "Figures",
  tryIt: "Try it",
  system: "System",
  people: "People",
} as const;
export type View = keyof typeof views;

/** Where the person came from to an execution, which has a button that leads back. */
export interface CameFrom {
  view: View;
  /** The execution that was shown there. */
  execution?: string | undefined;
  /** The approval whose card led here. */
  approval?: string | undefined;
  from?: CameFrom | undefined;
}

export interface Place {
  view: View;
  server?: string | undefined;
  /** The key of a program. */
  program?: string | undefined;
  /** The id of an execution. */
  execution?: string | undefined;
  /** Undefined if the execution was chosen in the list. */
  from?: CameFrom | undefined;
  /** The id of the execution that it is compared with. Empty: the one that is most likely meant. Undefined: it is shown alone. */
  compared?: string | undefined;
  /** The tool whose calls Activity lists first, as server.tool; all calls if it is empty. Undefined: Activity lists the executions. */
  calls?: string | undefined;
}

/** An entry of the history. */
interface Entry {
  place: Place;
  /** Pixels above the window when the page left the place. */
  scrolled: number;
}

/** Undefined for an entry that the browser made, such as for a link. */
function currentEntry(): Entry | undefined {
  const entry = history.state as Partial<Entry> | null;
  return entry?.place && Object.hasOwn(views, entry.place.view) ? (entry as Entry) : undefined;
}

/** Time in which the content of a place that is shown again may arrive, in milliseconds. */
const maxArrivalMs = 2_000;

/** Scrolls as soon as the page is long enough, unless the user is faster. Returns a function that gives up. */
function scrollWhenLongEnough(to: number): () => void {
  const controller = new AbortController();
  const growth = new ResizeObserver(() => {
    window.scrollTo(0, to);
    if (window.scrollY >= to) giveUp();
  });
  const giveUp = () => {
    growth.disconnect();
    controller.abort();
  };
  window.scrollTo(0, to);
  if (window.scrollY >= to) return giveUp;
  growth.observe(document.body);
  for (const event of ["wheel", "touchstart", "pointerdown", "keydown"])
    addEventListener(event, giveUp, { passive: true, signal: controller.signal });
  const timer = setTimeout(giveUp, maxArrivalMs);
  controller.signal.addEventListener("abort", () => clearTimeout(timer));
  return giveUp;
}

export function usePlace() {
  const [entry, setEntry] = useState<Entry>(() => currentEntry() ?? { place: { view: "now" }, scrolled: 0 });
  const latest = useRef(entry.place);
  latest.current = entry.place;

  useEffect(() => {
    history.scrollRestoration = "manual";
    history.replaceState(entry, "");
    const onBack = () => setEntry(currentEntry() ?? { place: { view: "now" }, scrolled: 0 });
    addEventListener("popstate", onBack);
    return () => removeEventListener("popstate", onBack);
  }, []);

  // Another view begins at its top. Back leads to the part that was seen.
  useLayoutEffect(() => scrollWhenLongEnough(entry.scrolled), [entry.place.view]);

  /** Goes to another place. The items that are chosen in other views stay chosen. */
  const go = (change: Partial<Place>) => {
    const next: Entry = { place: { ...latest.current, ...change }, scrolled: 0 };
    if (JSON.stringify(next.place) === JSON.stringify(latest.current)) return;
    if (currentEntry()) {
      history.replaceState({ place: latest.current, scrolled: window.scrollY } satisfies Entry, "");
      // The address of an approval leads to it only from here.
      history.pushState(next, "", location.pathname);
    } else {
      history.replaceState(next, "");
    }
    latest.current = next.place;
    setEntry(next);
  };
  return { place: entry.place, go };
}

/** The key of a saved program on the page. */
/** Names a program uniquely among all doors. */
export function programKey({ name, door }: { name: string; door?: string | undefined }): string {
  return JSON.stringify([door ?? null, name]);
}

const shape = /^[0-9a-z]{4,20}$/;

export function wantedIn({ hash, search }: Pick<Location, "hash" | "search">): string | undefined {
  const linked = new URLSearchParams(search).get("approval") ?? undefined;
  const id = hash.startsWith("#approval=") ? hash.slice("#approval=".length) : hash === "" ? linked : undefined;
  return id !== undefined && shape.test(id) ? id : undefined;
}

export const wantedHash = (id: string) => `#approval=${id}`;

const ends: Record<PageApproval["state"], string> = {
  open: "still waits",
  approved: "was approved already",
  denied: "was denied already",
  expired: "has expired",
  withdrawn: "is no longer needed",
};

/** The wanted id. If it no longer waits, the page says so once. */
export function useWantedApproval(state: PageState | undefined, notices: Notices, onWanted: () => void) {
  const [id, setId] = useState(() => wantedIn(location));
  const answered = useRef<string | undefined>(undefined);
  const want = (wanted: string) => {
    answered.current = undefined;
    onWanted();
    history.replaceState(history.state, "", wantedHash(wanted));
    setId(wanted);
  };
  useEffect(() => {
    const follow = () => {
      const found = wantedIn(location);
      if (found !== undefined) want(found);
    };
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, []);
  useEffect(() => {
    if (!state || id === undefined || answered.current === id) return;
    answered.current = id;
    if (state.approvals.some((each) => each.id === id)) return;
    get<PageApproval>(`approvals/${id}`).then(
      ({ server, tool, state: end }) => notices.say(`The call of ${server}.${tool} ${ends[end]}`),
      (error: unknown) => notices.fail(error),
    );
  }, [state, id]);
  return { id, want };
}
