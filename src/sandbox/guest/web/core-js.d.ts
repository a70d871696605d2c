/** Types for the parts of core-js that we use. It has no types of its own. */
declare module "core-js-pure/stable/array/from-async" {
  const fromAsync: (items: unknown, map?: (item: unknown, index: number) => unknown) => Promise<unknown[]>;
  export default fromAsync;
}
declare module "core-js-pure/stable/url" {
  const made: typeof globalThis.URL;
  export default made;
}
declare module "core-js-pure/stable/url-search-params" {
  const made: typeof globalThis.URLSearchParams;
  export default made;
}
declare module "core-js-pure/stable/dom-exception" {
  const made: new (message?: string, name?: string) => Error;
  export default made;
}
declare module "core-js-pure/stable/atob" {
  const atob: (base64: unknown) => string;
  export default atob;
}
declare module "core-js-pure/stable/btoa" {
  const btoa: (binary: unknown) => string;
  export default btoa;
}
