/** The filter of the list of executions, and the pages that the server finds for it. */
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { hourMs } from "../../../base/units.ts";
import type { PageAbout, PageActivity, PageExecution } from "../../activity-contract.ts";
import { get } from "../client.ts";
import type { Reason } from "../problem.tsx";

/** Silence after which a text is searched. */
const typedMs = 150;

export interface Query {
  text?: string | undefined;
  state?: string | undefined;
  agent?: string | undefined;
  server?: string | undefined;
  tool?: string | undefined;
  door?: string | undefined;
  /** Hours until now. */
  hours?: string | undefined;
}

function pathOf({ hours, ...query }: Query, after?: string): string {
  const since = hours === undefined ? undefined : String(Date.now() - Number(hours) * hourMs);
  const given = Object.entries({ ...query, since, after }).filter(([, value]) => value !== undefined && value !== "");
  return `activity?${new URLSearchParams(given as [string, string][])}`;
}

export interface Found {
  rows: PageExecution[];
  next?: string | undefined;
  agents: string[];
  doors: string[];
}

/** The rows of the new first page, and after them the known older ones. */
function withHead({ executions, ...head }: PageActivity, known: Found | undefined): Found {
  const last = head.next;
  if (last === undefined || known === undefined) return { rows: executions, ...head };
  const isNew = new Set(executions.map(({ id }) => id));
  const older = known.rows.filter(({ id, isOver }) => isOver && id < last && !isNew.has(id));
  return { rows: [...executions, ...older], ...head, next: older.length > 0 ? known.next : last };
}

interface Activity {
  found: Found | undefined;
  problem: Reason | undefined;
  /** Loads the next page, unless it is being loaded. */
  more(): void;
}

/** The list is read again when `mark` changes. */
export function useActivity(query: Query, mark: string): Activity {
  const [found, setFound] = useState<Found>();
  const [problem, setProblem] = useState<Reason>();
  const asked = useRef(0);
  const isLoading = useRef(false);
  const shownFor = useRef<string | undefined>(undefined);
  const key = JSON.stringify(query);
  useEffect(() => {
    const number = ++asked.current;
    const isOther = shownFor.current !== key;
    const load = async () => {
      try {
        const head = await get<PageActivity>(pathOf(query));
        if (number !== asked.current) return;
        setFound((known) => withHead(head, isOther ? undefined : known));
        shownFor.current = key;
        setProblem(undefined);
      } catch (error) {
        if (number === asked.current) setProblem(error as Reason);
      }
    };
    const timer = setTimeout(() => void load(), isOther && shownFor.current !== undefined ? typedMs : 0);
    return () => clearTimeout(timer);
  }, [key, mark]);

  const more = useCallback(() => {
    const after = found?.next;
    if (after === undefined || isLoading.current) return;
    isLoading.current = true;
    const number = asked.current;
    get<PageActivity>(pathOf(query, after))
      .then(
        ({ executions, next }) => {
          if (number !== asked.current) return;
          setFound((known) => known && { ...known, rows: [...known.rows, ...executions], next });
        },
        (error: Reason) => setProblem(error),
      )
      .finally(() => {
        isLoading.current = false;
      });
  }, [found, key]);
  return { found, problem, more };
}

/** One execution with its calls, which are read again when `row`, its row in a list, changes. */
export function useAbout(id: string, row: PageExecution | undefined) {
  const [about, setAbout] = useState<PageAbout>();
  const [problem, setProblem] = useState<Reason>();
  useEffect(() => {
    get<PageAbout>(`executions/${id}/about`).then(setAbout, setProblem);
  }, [id, row?.stateText, row?.calls]);
  return { about, problem, execution: row ?? about?.execution };
}
