/** The filter of the list of executions, and the pages that the server finds for it. */
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { hourMs } from "../../../base/units.ts";
import type { PageAbout, PageActivity, PageExecution } from "../../activity-contract.ts";
import { get } from "../client.ts";
import { daySpan } from "../filter-form.tsx";
import type { Reason } from "../notice.tsx";

/** Silence after which a text is searched. */
const typedMs = 150;

/** Rows below the window that stay when the list is read again. The others are loaded again by a scroll. */
const keptRowsBelow = 200;

/** Rows that are read at once, at least and at most. */
const [pageRows, maxReadRows] = [100, 1_000];

export interface Query {
  text?: string | undefined;
  state?: string | undefined;
  agent?: string | undefined;
  server?: string | undefined;
  tool?: string | undefined;
  door?: string | undefined;
  /** The id of a person. */
  person?: string | undefined;
  /** Hours until now. */
  hours?: string | undefined;
  order?: "longest" | "session" | undefined;
  /** A day such as 2026-11-29, in the time zone of the browser. */
  day?: string | undefined;
}

/** Whether some executions are left out. */
export function isNarrowed({ order, ...conditions }: Query): boolean {
  return Object.values(conditions).some((value) => value !== undefined && value !== "");
}

/** `part`: the rows after an execution, or a number of rows. */
function pathOf({ hours, day, ...query }: Query, part: { after?: string; rows?: string } = {}): string {
  const span = hours === undefined ? daySpan(day) : { since: String(Date.now() - Number(hours) * hourMs) };
  const given = Object.entries({ ...query, ...span, ...part }).filter(
    ([, value]) => value !== undefined && value !== "",
  );
  return `activity?${new URLSearchParams(given as [string, string][])}`;
}

export interface Found {
  rows: PageExecution[];
  next?: string | undefined;
  agents: string[];
  doors: string[];
  people: PageActivity["people"];
}

/** The rows with the same objects as before where nothing has changed, so that they are not drawn again. */
function unchanged(read: readonly PageExecution[], known: readonly PageExecution[]): PageExecution[] {
  const before = new Map(known.slice(0, 2 * read.length).map((row) => [row.id, row]));
  return read.map((row) => {
    const same = before.get(row.id);
    return same && JSON.stringify(same) === JSON.stringify(row) ? same : row;
  });
}

/** The number of rows that are read again in an order in which new rows come anywhere. */
function rowsAgain(seen: number): string {
  return String(Math.min(maxReadRows, Math.max(pageRows, seen + keptRowsBelow)));
}

/** The rows of the new first page, and after them those of the known older ones that are near the window. `seen` rows are above its end. */
function withHead({ executions: read, ...head }: PageActivity, known: Found | undefined, seen: number): Found {
  const last = head.next;
  const executions = unchanged(read, known?.rows ?? []);
  if (last === undefined || known === undefined) return { rows: executions, ...head };
  const isNew = new Set(executions.map(({ id }) => id));
  const older = known.rows.filter(({ id, isOver }) => isOver && id < last && !isNew.has(id));
  if (older.length === 0) return { rows: executions, ...head };
  const kept = older.slice(0, Math.max(0, seen + keptRowsBelow - executions.length));
  const next = kept.length === older.length ? known.next : (kept.at(-1)?.id ?? last);
  return { rows: [...executions, ...kept], ...head, next };
}

function withHeadOnly({ executions, ...head }: PageActivity, known: Found | undefined): Found {
  return { rows: unchanged(executions, known?.rows ?? []), ...head };
}

interface Activity {
  found: Found | undefined;
  problem: Reason | undefined;
  /** Loads the next page, unless it is being loaded. */
  more(): void;
  /** Says how many rows are above the end of the window. */
  onSeen(rows: number): void;
}

/** The list is read again when `mark` changes. */
export function useActivity(query: Query, mark: string): Activity {
  const [found, setFound] = useState<Found>();
  const [problem, setProblem] = useState<Reason>();
  const asked = useRef(0);
  const isLoading = useRef(false);
  const shownFor = useRef<string | undefined>(undefined);
  const seen = useRef(0);
  const key = JSON.stringify(query);
  useEffect(() => {
    const number = ++asked.current;
    const isOther = shownFor.current !== key;
    const load = async () => {
      try {
        const isOrdered = query.order !== undefined;
        const part = isOrdered && !isOther ? { rows: rowsAgain(seen.current) } : {};
        const head = await get<PageActivity>(pathOf(query, part));
        if (number !== asked.current) return;
        setFound((known) =>
          isOrdered ? withHeadOnly(head, known) : withHead(head, isOther ? undefined : known, seen.current),
        );
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
    get<PageActivity>(pathOf(query, { after }))
      .then(
        ({ executions, next }) => {
          const isCurrent = number === asked.current;
          // The list may have been read again meanwhile. Then the list asks again for what follows its end.
          setFound((known) => {
            if (!isCurrent || known?.next !== after) return known && { ...known };
            return { ...known, rows: [...known.rows, ...executions], next };
          });
        },
        (error: Reason) => setProblem(error),
      )
      .finally(() => {
        isLoading.current = false;
      });
  }, [found, key]);
  const onSeen = useCallback((rows: number) => {
    seen.current = rows;
  }, []);
  return { found, problem, more, onSeen };
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
