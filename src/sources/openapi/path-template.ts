/** Reads the path of an operation. Some documents write a query or a fragment into it, which tell operations with the same address apart. */

export interface PathTemplate {
  /** With placeholders, such as `/repos/{owner}`. */
  path: string;
  /** The query: texts, or the name of a placeholder. */
  query: { name: string; text: string; placeholder?: string | undefined }[];
}

export function pathTemplate(text: string): PathTemplate {
  // A placeholder may have any characters.
  const [, path = "", query = ""] = /^((?:\{[^{}]*\}|[^?#])*)(?:\?((?:\{[^{}]*\}|[^#])*))?/.exec(text) ?? [];
  const pairs = query.split("&").filter(Boolean);
  return {
    path,
    query: pairs.map((pair) => {
      const [name = "", value = ""] = pair.split(/=(.*)/s);
      return { name, text: value, placeholder: /^\{([^{}]+)\}$/.exec(value)?.[1] };
    }),
  };
}

export const placeholdersIn = (path: string): string[] =>
  Array.from(path.matchAll(/\{([^{}]+)\}/g), ([, name]) => name!);
