/** The types of in-browser.js, which uses those of a page. */
export function bars(rows: object[]): { name: string; from: number; to: number }[];
export function tops(elements: object[]): number[];
export function focused(): string | undefined;
export function isHacked(): boolean;
export function ground(): string;
export function shownKeys(cards: object[]): number[];
export function animation(element: object): string;
export function scrollWidth(): number;
export function pressable(): { seen: number; covered: (string | null)[] };
export function breakIn(address: string): Promise<string>;
export function tooFaint(): string[];
export function hasDrawn(images: object[]): boolean[];
export function isFocused(element: object): boolean;
export function scrolled(): number;
