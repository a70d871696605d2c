/** Shows messages about finished and failed actions. */
import { createContext } from "preact";
import { useContext, useEffect, useRef, useState } from "preact/hooks";
import { get, RequestFailure } from "./client.ts";
import { Text } from "./text.tsx";

export interface PageNotice {
  text: string;
  hint?: string | undefined;
  isFailure: boolean;
  action?: { title: string; run(): void } | undefined;
}

export interface Notices {
  /** `undo` takes the action back. */
  say(text: string, hint?: string, undo?: () => void): void;
  /** Says why something was not done yet, with a button that does it. */
  ask(text: string, hint: string, title: string, run: () => void): void;
  fail(error: unknown): void;
}

export const NoticeContext = createContext<Notices>({ say() {}, ask() {}, fail() {} });

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
  return { text: message, hint, isFailure: true };
}

/** How long a message stays that says only that something was done, in milliseconds. */
const doneShownMs = 8_000;

/**
 * Screen readers read it aloud. A message with something to do, and one about a failure, stay until the next one or until they are closed.
 * The others leave the page below them free, unless the pointer or the focus is on them.
 */
export function NoticeBar({ notice, onClose }: { notice: PageNotice | undefined; onClose(): void }) {
  const bar = useRef<HTMLDivElement>(null);
  const stays = !notice || notice.isFailure || notice.action !== undefined || notice.hint !== undefined;
  useEffect(() => {
    if (stays) return;
    let timer: ReturnType<typeof setTimeout>;
    const leave = () => {
      if (bar.current?.matches(":hover, :focus-within")) timer = setTimeout(leave, doneShownMs);
      else onClose();
    };
    timer = setTimeout(leave, doneShownMs);
    return () => clearTimeout(timer);
  }, [notice]);
  return (
    <div class="notices" role="status" aria-live="polite" ref={bar}>
      {notice && (
        <div class={notice.isFailure ? "notice failure" : "notice"}>
          <p>
            <Text>{notice.text}</Text>
            {notice.hint !== undefined && (
              <span class="hint">
                <Text>{notice.hint}</Text>
              </span>
            )}
          </p>
          {notice.action && (
            <button
              type="button"
              onClick={() => {
                notice.action?.run();
                onClose();
              }}
            >
              {notice.action.title}
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
