/** Files that the bundler embeds. Importing one returns its path, or for scripts and styles its text. */
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
declare module "*.txt" {
  const text: string;
  export default text;
}
declare module "*.bash" {
  const text: string;
  export default text;
}
declare module "*.zsh" {
  const text: string;
  export default text;
}
declare module "*.fish" {
  const text: string;
  export default text;
}
declare module "*.css" {
  const text: string;
  export default text;
}
