/** Files that the bundler embeds; importing one gives its path. */
declare module "*/wasm" {
  const path: string;
  export default path;
}
declare module "*.bin" {
  const path: string;
  export default path;
}
declare module "*.tiktoken" {
  const path: string;
  export default path;
}
