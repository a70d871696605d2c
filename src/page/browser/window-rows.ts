/** Draws only the rows of a long list that are in the window. All rows have one height, and are drawn again only with other properties. */
import { Component, type ComponentType, createElement, type FunctionComponent, type RefObject } from "preact";
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

/** Rows beyond both ends of the window, so that a quick scroll shows no gap. */
const rowsBeyond = 12;

/** Rows that are added and removed together, so that not every pixel of a scroll draws the list again. */
const rowsTogether = 4;

/** Pixels of the head of the page and of the filters, which stay above the list. */
const stickyPixels = 120;

interface WindowRows {
  /** The drawn rows: from the first one to the one before the end. */
  from: number;
  end: number;
  /** Height of the whole list, in pixels. */
  height: number;
  scrollTo(place: number): void;
}

interface Range {
  from: number;
  end: number;
}

/** The rows in the window and around it. `top` has the pixels of the list that are above the window. */
function rangeAt(top: number, windowPixels: number, rowPixels: number): Range {
  const together = (row: number) => Math.max(0, Math.round(row / rowsTogether) * rowsTogether);
  return {
    from: together(Math.floor(top / rowPixels) - rowsBeyond),
    end: together(Math.ceil((top + windowPixels) / rowPixels) + rowsBeyond),
  };
}

export function useWindowRows(list: RefObject<HTMLElement | null>, count: number, rowPixels: number): WindowRows {
  /** Pixels of the page above the list. */
  const margin = useRef(0);
  const isScroll = useRef(false);
  const rangeNow = () => rangeAt(window.scrollY - margin.current, window.innerHeight, rowPixels);
  const [{ from, end }, setRange] = useState(rangeNow);
  /** Whether other rows are drawn now. */
  const look = () => {
    const next = rangeNow();
    if (next.from === from && next.end === end) return false;
    setRange(next);
    return true;
  };
  const latest = useRef(look);
  latest.current = look;
  useEffect(() => {
    const scrolled = () => {
      isScroll.current = latest.current();
    };
    const resized = () => void latest.current();
    window.addEventListener("scroll", scrolled, { passive: true });
    window.addEventListener("resize", resized);
    return () => {
      window.removeEventListener("scroll", scrolled);
      window.removeEventListener("resize", resized);
    };
  }, []);
  // A scroll moves nothing else, and to ask for a place lets the browser lay out the page.
  useLayoutEffect(() => {
    if (!isScroll.current) {
      margin.current = list.current ? list.current.getBoundingClientRect().top + window.scrollY : 0;
      look();
    }
    isScroll.current = false;
  });
  const scrollTo = useCallback(
    (place: number) => {
      const top = margin.current + place * rowPixels;
      const [highest, lowest] = [top - stickyPixels, top + rowPixels - window.innerHeight];
      const { scrollY } = window;
      if (scrollY <= highest && scrollY >= lowest) return;
      window.scrollTo(0, scrollY > highest ? highest : lowest);
      // The event comes with the next frame only.
      isScroll.current = latest.current();
    },
    [rowPixels],
  );
  return { from: Math.min(from, count), end: Math.min(end, count), height: count * rowPixels, scrollTo };
}

/** Whether the list has at least this width. */
export function useIsWide(list: RefObject<HTMLElement | null>, pixels: number): boolean {
  const [isWide, setWide] = useState(window.innerWidth > pixels);
  useLayoutEffect(() => {
    const observer = new ResizeObserver(([entry]) => setWide((entry?.contentRect.width ?? 0) >= pixels));
    if (list.current) observer.observe(list.current);
    return () => observer.disconnect();
  }, [list, pixels]);
  return isWide;
}

export function keptUnchanged<P extends object>(drawn: FunctionComponent<P>): ComponentType<P> {
  return class extends Component<P> {
    override shouldComponentUpdate(next: Readonly<P>): boolean {
      const [known, given] = [this.props as Record<string, unknown>, next as Record<string, unknown>];
      return [...new Set([...Object.keys(known), ...Object.keys(given)])].some((name) => known[name] !== given[name]);
    }

    override render() {
      return createElement(drawn, this.props as P);
    }
  };
}
