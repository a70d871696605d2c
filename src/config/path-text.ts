/** Writes the path of a value in a config file as text, for example `mcpServers["my server"].args[0]`. */

export function pathText(path: readonly (string | number)[]): string {
  const text = path.map((part) =>
    typeof part === "number" ? `[${part}]` : /^[A-Za-z_$][\w$]*$/.test(part) ? `.${part}` : `[${JSON.stringify(part)}]`,
  );
  return text.join("").replace(/^\./, "") || "the file";
}
