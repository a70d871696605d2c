/** What the page and the script of the editor know of each other. The script is loaded when the view is opened. */
import type { PageEditor, PageEditorTool, PageMistake } from "../../programs-contract.ts";

/** The names that code can use. Each is asked for once. */
export interface EditorNames {
  editor(): Promise<PageEditor>;
  /** A server that was never listed is started for it. None if it does not answer. */
  tools(server: string): Promise<PageEditorTool[]>;
}

export interface EditorOptions {
  /** An element in a shadow root, in which the editor may add style sheets. */
  parent: HTMLElement;
  code: string;
  /** The id of a text in the shadow root that describes the keys. */
  describedBy: string;
  names(): EditorNames;
  check(code: string): Promise<PageMistake[]>;
  onCode(code: string): void;
  onMistakes(mistakes: PageMistake[]): void;
  onRun(isDryRun: boolean): void;
}

export interface Editor {
  /** Replaces the code. It can be undone. */
  setCode(code: string): void;
  /** Moves the cursor to a line, counted from 1, and focuses the editor. */
  goTo(line: number, column?: number): void;
  focus(): void;
  /** Checks the code again, because the tools may have changed. */
  checkAgain(): void;
  close(): void;
}

export interface EditorScript {
  openEditor(options: EditorOptions): Editor;
}
