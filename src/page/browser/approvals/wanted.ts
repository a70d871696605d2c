/** The approval that an address leads to: `#approval=ID`, or `?approval=ID` in a link, which survives a sign-in. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { PageApproval, PageState } from "../../contract.ts";
import { get } from "../client.ts";
import type { Notices } from "../notice.tsx";

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
