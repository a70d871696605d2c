/** Draws only the rows of a long list that are in the window. All rows have one height. */
import {
  observeWindowOffset,
  observeWindowRect,
  type VirtualItem,
  Virtualizer,
  windowScroll,
} from "@tanstack/virtual-core";
import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useState } from "preact/hooks";

/** Rows beyond both ends of the window, so that a quick scroll shows no gap. */
const rowsBeyond = 12;

/** Pixels of the head of the page and of the filters, which stay above the list. */
const stickyPixels = 120;

interface WindowRows {
  rows: VirtualItem[];
  /** Height of the whole list, in pixels. */
  height: number;
  /** Pixels above the list. */
  margin: number;
  scrollTo(place: number): void;
}

export function useWindowRows(list: RefObject<HTMLElement | null>, count: number, rowPixels: number): WindowRows {
  const [, redraw] = useState(0);
  const [margin, setMargin] = useState(0);
  const options = {
    count,
    estimateSize: () => rowPixels,
    overscan: rowsBeyond,
    scrollMargin: margin,
    scrollPaddingStart: stickyPixels,
    getScrollElement: () => window,
    observeElementRect: observeWindowRect,
    observeElementOffset: observeWindowOffset,
    scrollToFn: windowScroll,
    initialOffset: () => window.scrollY,
    initialRect: { width: window.innerWidth, height: window.innerHeight },
    onChange: () => redraw((times) => times + 1),
  };
  const [virtualizer] = useState(() => new Virtualizer<Window, Element>(options));
  virtualizer.setOptions(options);
  useEffect(() => virtualizer._didMount(), []);
  useLayoutEffect(() => {
    virtualizer._willUpdate();
    const top = list.current ? list.current.getBoundingClientRect().top + window.scrollY : 0;
    if (Math.abs(top - margin) > 1) setMargin(top);
  });
  useLayoutEffect(() => virtualizer.measure(), [rowPixels]);
  return {
    rows: virtualizer.getVirtualItems(),
    height: virtualizer.getTotalSize(),
    margin,
    scrollTo: (place) => virtualizer.scrollToIndex(place, { align: "auto" }),
  };
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
