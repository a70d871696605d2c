/** Translates an agent's variables into `${VAR}`, and notes what has no equivalent. */
import { basename, sep } from "node:path";
import { homeOf } from "../../config/locations.ts";
import { isObject, type JsonObject } from "../../json-object.ts";
import type { Scene, Supplied } from "./model.ts";

/**
 * The syntax of variables. `shell`: `${VAR}` and `${VAR:-default}`, as in claudikins.json. `editor`: `${env:VAR}`, `${workspaceFolder}`, `${input:id}`. `gemini`:
 * `$VAR` as well. `opencode`: `{env:VAR}` and `{file:path}`. `none`: the agent has no variables.
 */
export type Syntax = "shell" | "editor" | "gemini" | "opencode" | "none";

export interface Translator {
  /** `key` is the name of the variable or header whose value is the text. */
  text(text: string, key?: string): string;
  /** What the user should know about the translation. */
  notes: string[];
  supplied: Supplied[];
  /** Reasons why the entry cannot be in a shared file. */
  obstacles: string[];
  /** Sets what `${workspaceFolder}` becomes: the project's path, relative to the folder in which the server runs. */
  standIn(folder: string): void;
}

export function translator(syntax: Syntax, scene: Scene): Translator {
  const notes: string[] = [];
  const supplied: Supplied[] = [];
  const obstacles: string[] = [];
  let folder = scene.isShared ? "." : scene.folder;
  const note = (text: string) => {
    if (!notes.includes(text)) notes.push(text);
  };
  const text = (value: string, key?: string): string => ofWindows(ofSyntax(value, key));
  const standIn = (path: string) => {
    folder = path;
  };
  return { text, notes, supplied, obstacles, standIn };

  function ofSyntax(value: string, key: string | undefined): string {
    if (syntax === "editor")
      return value.replace(/\$\{([^{}]+)\}/g, (whole, name) => ofEditor(whole, name, value, key));
    if (syntax === "gemini") return ofGemini(value);
    if (syntax === "opencode") {
      return value
        .replace(/\{env:([A-Za-z_]\w*)\}/g, (_, name: string) => `\${${name}}`)
        .replace(/\{file:([^{}]+)\}/g, (_, path: string) => ofFile(path, key));
    }
    if (syntax === "none") {
      for (const [whole, name] of value.matchAll(/\$\{([A-Za-z_]\w*)(?:\}|:-)/g)) {
        note(`${whole.endsWith("}") ? whole : `\${${name}}`} is now a variable; the agent used it as plain text`);
      }
    }
    return value;
  }

  /** `%VAR%`, if the variable is set: other texts may contain `%` as well, such as addresses and formats of dates. */
  function ofWindows(value: string): string {
    if (scene.platform !== "win32") return value;
    const set = new Map(Object.keys(scene.env).map((name) => [name.toUpperCase(), name]));
    return value.replace(/%([A-Za-z_]\w*)%/g, (whole, name: string) => {
      const own = set.get(name.toUpperCase());
      return own === undefined ? whole : `\${${own}}`;
    });
  }

  function ofEditor(whole: string, name: string, value: string, key: string | undefined): string {
    const [, kind = "", argument = ""] = /^([^:]*):?(.*)$/s.exec(name) ?? [];
    if (kind === "env" && /^[A-Za-z_]\w*(?::-.*)?$/.test(argument)) return `\${${argument}}`;
    if (kind === "input") return ofInput(argument, value === whole ? key : undefined);
    if (kind === "file") return ofFile(argument, value === whole ? key : undefined);
    if (name === "userHome") return scene.isShared ? "${HOME}" : homeOf(scene.env);
    if (name === "pathSeparator" || name === "/") return sep;
    if (name === "workspaceFolder" || name === "cwd") {
      // A relative path is useless in a URL.
      if (scene.isShared && value.includes(`://${whole}`))
        obstacles.push(`it needs the absolute path of the project in ${value}`);
      if (folder !== undefined) return folder;
      note(`${whole} is now the folder that claudikins is started in`);
      return ".";
    }
    if (name === "workspaceFolderBasename" && scene.folder !== undefined) return basename(scene.folder);
    if (!/^[A-Za-z_]\w*(?::-.*)?$/.test(name) || name === "workspaceFolderBasename") {
      const own = variableName(name);
      note(`${whole} has no meaning outside the editor: set ${own}`);
      return `\${${own}}`;
    }
    return whole;
  }

  function ofInput(id: string, key: string | undefined): string {
    const { inputs } = scene.document;
    const input = Array.isArray(inputs) ? inputs.find((each) => isObject(each) && each["id"] === id) : undefined;
    const { description, default: usual } = (input ?? {}) as JsonObject;
    return supply(key, id, {
      source: `input ${id}`,
      question: `the agent asked you for "${typeof description === "string" ? description : id}"`,
      ...(typeof usual === "string" && usual !== "" ? { default: usual } : {}),
    });
  }

  function ofFile(path: string, key: string | undefined): string {
    const question = `the agent read it from the file ${path}`;
    return supply(key, `${scene.server} ${basename(path)}`, { source: `file ${path}`, question });
  }

  /** The variable for a value that the agent supplied. It is called `key` if that is possible, else after the other name. */
  function supply(key: string | undefined, name: string, about: Omit<Supplied, "variable">): string {
    const variable = key !== undefined && /^[A-Za-z_]\w*$/.test(key) ? key : variableName(name);
    if (!supplied.some((each) => each.variable === variable)) supplied.push({ variable, ...about });
    return `\${${variable}}`;
  }

  function ofGemini(value: string): string {
    return value.replace(/\$(?!\{)([A-Za-z_]\w*)/g, (_, name: string) => `\${${name}}`);
  }
}

/** `github-token` → `GITHUB_TOKEN`. */
function variableName(text: string): string {
  const name = text
    .replace(/([a-z\d])([A-Z])/g, "$1_$2")
    .replace(/\W+/g, "_")
    .replace(/^_+|_+$/g, "")
    .toUpperCase();
  return /^[A-Z_]/.test(name) ? name : `_${name}`;
}
