/** Answers of the server that are read again and again while they are shown, because other processes change them. */
import { useEffect, useState } from "preact/hooks";
import { get } from "./client.ts";
import type { Reason } from "./notice.tsx";

/** How often they are read. A daemon that does not answer is waited for up to five seconds. */
const systemLookMs = 5_000;

interface Looked<T> {
  found: T | undefined;
  /** Why the last look failed. */
  problem: Reason | undefined;
  look(): void;
}

/** Reads a path now, after `look`, and every few seconds while the page is visible. */
export function useLooked<T>(path: string): Looked<T> {
  const [found, setFound] = useState<T>();
  const [problem, setProblem] = useState<Reason>();
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    let isWanted = true;
    let timer: ReturnType<typeof setTimeout>;
    const next = () => {
      timer = setTimeout(load, systemLookMs);
    };
    const load = () => {
      if (document.visibilityState !== "visible") return next();
      get<T>(path).then(
        (answer) => {
          if (!isWanted) return;
          setFound(answer);
          setProblem(undefined);
          next();
        },
        (error: Reason) => {
          if (!isWanted) return;
          setProblem(error);
          next();
        },
      );
    };
    load();
    return () => {
      isWanted = false;
      clearTimeout(timer);
    };
  }, [path, turn]);
  return { found, problem, look: () => setTurn((last) => last + 1) };
}
