/** The types of in-browser.js, which uses those of a page. */
export function misplaced(font: string | undefined): string[];
export function tooFaint(): string[];
