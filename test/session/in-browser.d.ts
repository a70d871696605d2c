/** The types of in-browser.js, which uses those of a page. */
export function standAt(ms: number): void;
export function lines(): string[];
export function misplaced(font: string | undefined): string[];
export function protruding(): string[];
export function tooFaint(): string[];
export function animations(): number;
