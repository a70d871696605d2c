/** Translates an agent's variables into `${VAR}`, and notes the ones without an equivalent. */
import { basename, sep } from "node:path";
import { isObject, type JsonObject } from "../../../base/json-object.ts";
import { homeOf } from "../../../config/locations.ts";
import type { EntryContext, Supplied } from "./model.ts";

/**
 * The syntax of variables. `shell`: `${VAR}` and `${VAR:-default}`, as in claudikins.json. `editor`: `${env:VAR}`, `${workspaceFolder}`, `${input:id}`. `gemini`:
 * `$VAR` as well. `opencode`: `{env:VAR}` and `{file:path}`. `none`: the agent has no variables.
 */
export type Syntax = "shell" | "editor" | "gemini" | "opencode" | "none";

/** Translates the texts of one entry. */
export class Translator {
  /** Notes for the user about the translation. */
  readonly notes: string[] = [];
  readonly supplied: Supplied[] = [];
  /** Reasons why the entry cannot be in a shared file. */
  readonly obstacles: string[] = [];
  /** Stands for `${workspaceFolder}`. In a shared file, it is relative to the folder in which the server runs. */
  workspaceFolder: string | undefined;
  readonly #syntax: Syntax;
  readonly #scene: EntryContext;

  constructor(syntax: Syntax, scene: EntryContext) {
    this.#syntax = syntax;
    this.#scene = scene;
    this.workspaceFolder = scene.isShared ? "." : scene.folder;
  }

  /** `key` is the name of the variable or header whose value is the text. */
  readonly text = (value: string, key?: string): string => this.#ofWindows(this.#ofSyntax(value, key));

  #note(text: string): void {
    if (!this.notes.includes(text)) this.notes.push(text);
  }

  #ofSyntax(value: string, key: string | undefined): string {
    if (this.#syntax === "editor")
      return value.replace(/\$\{([^{}]+)\}/g, (whole, name) => this.#ofEditor(whole, name, value, key));
    if (this.#syntax === "gemini") return this.#ofGemini(value);
    if (this.#syntax === "opencode") {
      return value
        .replace(/\{env:([A-Za-z_]\w*)\}/g, (_, name: string) => `\${${name}}`)
        .replace(/\{file:([^{}]+)\}/g, (_, path: string) => this.#ofFile(path, key));
    }
    if (this.#syntax === "none") {
      for (const [whole, name] of value.matchAll(/\$\{([A-Za-z_]\w*)(?:\}|:-)/g)) {
        this.#note(`${whole.endsWith("}") ? whole : `\${${name}}`} is now a variable; the agent used it as plain text`);
      }
    }
    return value;
  }

  /** `%VAR%`, if the variable is set: other texts may contain `%` as well, such as addresses and formats of dates. */
  #ofWindows(value: string): string {
    if (this.#scene.platform !== "win32") return value;
    const set = new Map(Object.keys(this.#scene.env).map((name) => [name.toUpperCase(), name]));
    return value.replace(/%([A-Za-z_]\w*)%/g, (whole, name: string) => {
      const own = set.get(name.toUpperCase());
      return own === undefined ? whole : `\${${own}}`;
    });
  }

  #ofEditor(whole: string, name: string, value: string, key: string | undefined): string {
    const [, kind = "", argument = ""] = /^([^:]*):?(.*)$/s.exec(name) ?? [];
    if (kind === "env" && /^[A-Za-z_]\w*(?::-.*)?$/.test(argument)) return `\${${argument}}`;
    if (kind === "input") return this.#ofInput(argument, value === whole ? key : undefined);
    if (kind === "file") return this.#ofFile(argument, value === whole ? key : undefined);
    if (name === "userHome") return this.#scene.isShared ? "${HOME}" : homeOf(this.#scene.env);
    if (name === "pathSeparator" || name === "/") return sep;
    if (name === "workspaceFolder" || name === "cwd") {
      // A relative path is useless in a URL.
      if (this.#scene.isShared && value.includes(`://${whole}`))
        this.obstacles.push(`it needs the absolute path of the project in ${value}`);
      if (this.workspaceFolder !== undefined) return this.workspaceFolder;
      this.#note(`${whole} is now the folder that claudikins is started in`);
      return ".";
    }
    if (name === "workspaceFolderBasename" && this.#scene.folder !== undefined) return basename(this.#scene.folder);
    if (!/^[A-Za-z_]\w*(?::-.*)?$/.test(name) || name === "workspaceFolderBasename") {
      const own = variableName(name);
      this.#note(`${whole} has no meaning outside the editor: set ${own}`);
      return `\${${own}}`;
    }
    return whole;
  }

  #ofInput(id: string, key: string | undefined): string {
    const { inputs } = this.#scene.document;
    const input = Array.isArray(inputs) ? inputs.find((each) => isObject(each) && each["id"] === id) : undefined;
    const { description, default: usual, password } = (input ?? {}) as JsonObject;
    return this.#supply(key, id, {
      source: `input ${id}`,
      question: `the agent asked you for "${typeof description === "string" ? description : id}"`,
      ...(typeof usual === "string" && usual !== "" ? { default: usual } : {}),
      ...(password === true ? { isSecret: true as const } : {}),
    });
  }

  #ofFile(path: string, key: string | undefined): string {
    const question = `the agent read it from the file ${path}`;
    return this.#supply(key, `${this.#scene.server} ${basename(path)}`, { source: `file ${path}`, question });
  }

  /** The variable for a value that the agent supplied. It is called `key` if that is possible, else after the other name. */
  #supply(key: string | undefined, name: string, about: Omit<Supplied, "variable">): string {
    const variable = key !== undefined && /^[A-Za-z_]\w*$/.test(key) ? key : variableName(name);
    if (!this.supplied.some((each) => each.variable === variable)) this.supplied.push({ variable, ...about });
    return `\${${variable}}`;
  }

  #ofGemini(value: string): string {
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
