/** Shows messages about finished and failed actions. */
import { createContext } from "preact";
import { useContext, useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { get, post, RequestFailure } from "./client.ts";
import { Key, Text } from "./text.tsx";

export interface PageNotice {
  text: string;
  hint?: string | undefined;
  isFailure: boolean;
  action?: { title: string; about?: string; key?: string; run(): void } | undefined;
  /** Whether it waits for an answer, and says what was not done yet. */
  isQuestion?: boolean | undefined;
  /** When it was made, by `performance.now()`. */
  at: number;
}

export interface Undo {
  /** Names the change that it takes back. */
  what: string;
  run(): void;
}

export interface Notices {
  say(text: string, hint?: string): void;
  /** Says that something was changed. After a change without an undo, earlier changes have none either. */
  changed(text: string, hint?: string, undo?: Undo): void;
  /** Says why something was not done yet, with a button that does it. */
  ask(text: string, hint: string, title: string, run: () => void): void;
  fail(error: unknown): void;
}

export const NoticeContext = createContext<Notices>({ say() {}, changed() {}, ask() {}, fail() {} });

export const useNotices = (): Notices => useContext(NoticeContext);

/** Runs an action and says why it failed. */
export function useAction() {
  const notices = useNotices();
  const [isRunning, setRunning] = useState(false);
  const run = async (action: () => Promise<void>) => {
    setRunning(true);
    try {
      await action();
    } catch (error) {
      notices.fail(error);
    } finally {
      setRunning(false);
    }
  };
  return { isRunning, run };
}

/**
 * The server's answer at a path and a function that replaces it. The answer is undefined until it is loaded, and is loaded again when
 * `mark` changes.
 */
export function useLoaded<T>(path: string, mark: unknown) {
  const notices = useNotices();
  const [found, setFound] = useState<T>();
  useEffect(() => {
    let isWanted = true;
    get<T>(path).then(
      (loaded) => isWanted && setFound(loaded),
      (error: unknown) => isWanted && notices.fail(error),
    );
    return () => {
      isWanted = false;
    };
  }, [path, mark]);
  return [found, setFound] as const;
}

export function noticeOf(error: unknown): PageNotice {
  const { message, hint } = error instanceof RequestFailure ? error : { message: String(error), hint: undefined };
  return { text: message, hint, isFailure: true, at: performance.now() };
}

/** How long a message stays that needs no answer, in milliseconds. */
const doneShownMs = 8_000;

/** How long a failure is shown until it counts as read, in milliseconds. */
const readMs = 3_000;

/** A message that is not older, in milliseconds, came with the move to another view, and stays in it. */
const cameWithMoveMs = 500;

/** A message does not leave before nobody has pressed or moved anything for this long, in milliseconds: the page below it moves up. */
const stillMs = 500;

/** Whether a message stays when the page shows another place. A failure stays until it was read. */
export function staysAfterMove({ isFailure, at }: PageNotice, isRead: boolean, isOtherView: boolean): boolean {
  if (isFailure) return !isRead;
  return !isOtherView || performance.now() - at < cameWithMoveMs;
}

let movedAt = Number.NEGATIVE_INFINITY;

/** When a message has last moved the page below it, by `performance.now()`. */
export const noticeMovedAt = () => movedAt;

interface NoticeBarProps {
  notice: PageNotice | undefined;
  hasKeys: boolean;
  onRead(): void;
  onClose(): void;
}

/**
 * Screen readers read it aloud. It has a place of its own below the views, so that it covers nothing. Failures and questions stay, and other
 * messages leave after a while, unless the pointer or the focus is on them.
 */
export function NoticeBar({ notice, hasKeys, onRead, onClose }: NoticeBarProps) {
  const bar = useRef<HTMLDivElement>(null);
  const height = useRef(0);
  useLayoutEffect(() => {
    const now = bar.current?.offsetHeight ?? 0;
    if (now !== height.current) movedAt = performance.now();
    height.current = now;
  }, [notice]);
  const leaves = notice && !notice.isFailure && !notice.isQuestion;
  useEffect(() => (leaves ? afterQuiet(() => bar.current, onClose) : undefined), [notice]);
  useEffect(() => (notice?.isFailure ? afterSeen(onRead) : undefined), [notice]);
  return (
    <div class="notices" role="status" aria-live="polite" ref={bar}>
      {notice && (
        <div class={notice.isFailure ? "notice failure" : "notice"}>
          <p>
            <Text>{notice.text}</Text>
            {notice.hint !== undefined && (
              <Text in="span" class="hint">
                {notice.hint}
              </Text>
            )}
          </p>
          {notice.action && (
            <button
              type="button"
              title={notice.action.about}
              onClick={() => {
                notice.action?.run();
                onClose();
              }}
            >
              {notice.action.title} {hasKeys && notice.action.key !== undefined && <Key>{notice.action.key}</Key>}
            </button>
          )}
          <button type="button" class="plain" aria-label="Close this message" onClick={onClose}>
            ✕
          </button>
        </div>
      )}
    </div>
  );
}

/** Calls `leave` when the message was shown long enough, and nobody is at it or does something else. Returns a function that stops this. */
function afterQuiet(element: () => HTMLElement | null, leave: () => void): () => void {
  const controller = new AbortController();
  let usedAt = Number.NEGATIVE_INFINITY;
  const use = () => {
    usedAt = performance.now();
  };
  for (const event of ["pointermove", "pointerdown", "keydown", "wheel"])
    addEventListener(event, use, { passive: true, signal: controller.signal });
  const look = () => {
    const isUsed = performance.now() - usedAt < stillMs || element()?.matches(":hover, :focus-within");
    if (isUsed) timer = setTimeout(look, stillMs);
    else leave();
  };
  let timer = setTimeout(look, doneShownMs);
  return () => {
    clearTimeout(timer);
    controller.abort();
  };
}

/** Calls `read` when the page was seen long enough. Returns a function that stops this. */
function afterSeen(read: () => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const look = () => {
    clearTimeout(timer);
    if (document.visibilityState === "visible") timer = setTimeout(read, readMs);
  };
  look();
  document.addEventListener("visibilitychange", look);
  return () => {
    clearTimeout(timer);
    document.removeEventListener("visibilitychange", look);
  };
}

export interface Reason {
  message: string;
  hint?: string | undefined;
}

export function Problem({ reason: { message, hint } }: { reason: Reason }) {
  return (
    <p class="warning" role="alert">
      <Text>{message}</Text>
      {hint !== undefined && (
        <Text in="span" class="hint">
          {hint}
        </Text>
      )}
    </p>
  );
}

interface ConfigChange {
  said: string;
  hint?: string | undefined;
  /** Identifies the change for the server. Undefined if nothing had to be changed. */
  undo: string | undefined;
  /** Names the change that an Undo takes back. */
  what: string;
  /** The hint after the change was taken back. */
  undoneHint?: string | undefined;
  /** Called after the change was taken back. */
  undone?: (() => void) | undefined;
}

export function useConfigChanged(): (change: ConfigChange) => void {
  const notices = useNotices();
  const { run } = useAction();
  return ({ said, hint, undo, what, undoneHint, undone }) => {
    if (undo === undefined) {
      notices.say(said, hint);
      return;
    }
    const takeBack = () =>
      run(async () => {
        await post("policy/undo", { undo });
        notices.say(`Undone: "${what}"`, undoneHint);
        undone?.();
      });
    notices.changed(said, hint, { what, run: () => void takeBack() });
  };
}
