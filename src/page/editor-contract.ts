/** The messages between the editor of the page and its server: see contract.ts. */

/** The servers and doors that a program can name: the answer to `GET api/editor/servers`. */
export interface PageEditor {
  servers: { name: string; jsName?: string | undefined; description: string }[];
  doors: string[];
  /** The agent that executions of the editor are listed with. */
  agent: string;
}

/** The tools of one server, for completion: the answer to `POST api/editor/tools`. */
export interface PageEditorTool {
  name: string;
  /** Undefined if two tools would get the same one. */
  jsName?: string | undefined;
  description: string;
  signature: string;
  arguments: PageType;
  /** Undefined if it is not known. */
  result?: PageType | undefined;
}

/** A type, as far as completion needs it. */
export interface PageType {
  /** Its name, or its values: `string`, `"paid" | "open"`, `list`. */
  text: string;
  fields?: PageField[] | undefined;
  /** The type of the items of a list. */
  items?: PageType | undefined;
  /** Possible values, as code. */
  values?: string[] | undefined;
}

export interface PageField {
  name: string;
  isOptional: boolean;
  description: string;
  type: PageType;
}

/** A mistake in the code of the editor, in the answer to `POST api/editor/check`. Lines and columns count from 1. */
export interface PageMistake {
  line: number;
  column: number;
  message: string;
  hint?: string | undefined;
  /** Whether the program runs all the same. */
  isWarning: boolean;
}
