/** The types of in-page.js, which uses those of a page. */
export function watchStart(): void;
export function watchLooks(): void;
export function startOfPage(): Promise<{
  useful: number;
  looks: string[];
  shift: number;
  firstPaint: number;
}>;
export function watchFrames(): void;
export function framesSeen(): { frames: number[]; longestTaskMs: number; elements: number };
