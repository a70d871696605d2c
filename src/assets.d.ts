/** Files that the bundler embeds; importing one gives its path, and of a script or a style its text. */
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
declare module "*/script.js" {
  const text: string;
  export default text;
}
