/** The height of the page's head, below which other parts stay while the page is scrolled. */
import { useEffect, useRef } from "preact/hooks";

/** The filters stay below the head of the page, whose height depends on the width. */
export function useStickyTop(isShown: boolean): void {
  const height = useRef(0);
  useEffect(() => {
    const top = document.querySelector(".top");
    if (!top) return undefined;
    const observer = new ResizeObserver(() => {
      height.current = top.getBoundingClientRect().height;
      document.documentElement.style.setProperty("--top", `${height.current}px`);
    });
    observer.observe(top);
    return () => observer.disconnect();
  }, [isShown]);
}
