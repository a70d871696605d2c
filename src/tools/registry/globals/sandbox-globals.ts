/**
 * Declares the globals of the sandbox that TypeScript does not know. Two registries may be used together, so all declarations are
 * functions, variables or interfaces, which may be repeated. Names that the types of Node or browsers declare too have the same types here,
 * or add an overload. The declarations are in a module, because Node's types export some names that a script must not declare.
 */
export const sandboxDeclarations = `declare global {
  namespace Claudikins {
    /** The servers by their own names. Each generated server adds itself. */
    interface Servers {}

    /** A tool: resolves to the value of its result, and rejects with a ToolError. */
    interface Tool<Arguments extends unknown[], Result> {
      (...args: Arguments): Promise<Result>;
      /** Resolves to the whole MCP result. */
      raw(...args: Arguments): Promise<CallResult>;
      /** Iterates over the items of all pages of a list: each page is a call. */
      pages(...args: Arguments): AsyncGenerator<Page<Result>["item"], void, undefined>;
      readonly name: string;
    }

    /** A page of a result that is a list, or an object with a list. */
    interface Page<Result> {
      readonly item: Result extends readonly unknown[]
        ? Result[number]
        : Result extends object
          ? [ListIn<Result>["item"]] extends [never] ? any : ListIn<Result>["item"]
          : any;
    }
    interface ListIn<Result extends object> {
      readonly item: {
        [Key in keyof Result]-?: NonNullable<Result[Key]> extends readonly unknown[] ? NonNullable<Result[Key]>[number] : never;
      }[keyof Result];
    }

    interface CallResult extends Record<string, any> {
      content: any[];
      structuredContent?: any;
      isError?: boolean;
    }

    /** The functions of every server beside its tools. */
    interface Functions {
      readonly resources: Resources;
      readonly prompts: Prompts;
      readonly skills: Skills;
      readonly list_resources: Resources["list"];
      readonly listResources: Resources["list"];
      readonly read_resource: Resources["read"];
      readonly readResource: Resources["read"];
      readonly list_prompts: Prompts["list"];
      readonly listPrompts: Prompts["list"];
      readonly get_prompt: Prompts["get"];
      readonly getPrompt: Prompts["get"];
    }
    interface Resources {
      list(): Promise<any[] & { resources: any[] }>;
      templates(): Promise<any[] & { resourceTemplates: any[] }>;
      read(uri: string | { uri: string }): Promise<{ contents: any[]; text: string; [key: string]: any }>;
      /** Waits for changes of a resource. */
      subscribe(uri: string | { uri: string }): AsyncIterableIterator<{ uri: string }> & AsyncDisposable & Disposable;
    }
    interface Prompts {
      list(): Promise<any[] & { prompts: any[] }>;
      get(name: string, args?: object): Promise<{ messages: any[]; text: string; [key: string]: any }>;
      get(prompt: { name: string; arguments?: object }): Promise<{ messages: any[]; text: string; [key: string]: any }>;
    }
    interface Skills {
      list(): Promise<any[] & { skills: any[] }>;
      read(uri: string | { uri: string }): Promise<{ contents: any[]; text: string; [key: string]: any }>;
    }

    interface Tools {
      /** Finds tools by what they do. */
      search(query: string, limit?: number): Promise<FoundTool[]>;
      /** Describes the tool with this id, "server.tool". */
      describe(id: string): Promise<DescribedTool>;
      /** Lists the servers with the names of their tools. */
      list(): Promise<ListedServer[]>;
      /** Lists the tools of one server. */
      list(server: string): Promise<ListedTool[]>;
    }
    interface ListedTool {
      id: string;
      description: string;
      signature: string;
    }
    interface FoundTool {
      id: string;
      description: string;
      signature: string;
      example: string;
      /** Why the tool cannot be called now. */
      problem?: string;
    }
    interface DescribedTool {
      id: string;
      description: string;
      signature: string;
      example: string;
      inputSchema: any;
      outputSchema?: any;
      observed?: any;
      annotations?: any;
      /** Why the tool cannot be called now. */
      problem?: string;
    }
    interface ListedServer {
      server: string;
      description?: string;
      tools: string[];
      /** Why the server cannot be called now. */
      problem?: string;
    }

    interface Bytes extends Uint8Array {
      toString(encoding?: string, start?: number, end?: number): string;
      toJSON(): { type: "Buffer"; data: number[] };
      equals(other: Uint8Array): boolean;
    }

    interface Entry {
      isFile(): boolean;
      isDirectory(): boolean;
      isSymbolicLink(): boolean;
    }
    interface Dirent extends Entry {
      name: string;
      parentPath: string;
    }
    interface Stats extends Entry {
      size: number;
      mode: number;
      atimeMs: number;
      mtimeMs: number;
      ctimeMs: number;
      birthtimeMs: number;
      atime: Date;
      mtime: Date;
      ctime: Date;
      birthtime: Date;
    }
    interface CopyOptions {
      recursive?: boolean;
      force?: boolean;
      errorOnExist?: boolean;
      filter?(from: string, to: string): boolean;
    }
    interface FileConstants {
      readonly F_OK: number;
      readonly R_OK: number;
      readonly W_OK: number;
      readonly X_OK: number;
      readonly COPYFILE_EXCL: number;
      readonly COPYFILE_FICLONE: number;
    }
    /** The functions of fs that return promises. Only ./workspace can be written, and ./registry read. */
    interface Files {
      readonly constants: FileConstants;
      readFile(path: string | Uint8Array, encoding: string | { encoding: string }): Promise<string>;
      readFile(path: string | Uint8Array, options?: null | { encoding?: null }): Promise<Bytes>;
      writeFile(path: string | Uint8Array, data: string | ArrayBufferView, options?: string | { encoding?: string; flag?: string }): Promise<void>;
      appendFile(path: string | Uint8Array, data: string | ArrayBufferView, options?: string | { encoding?: string }): Promise<void>;
      readdir(path: string | Uint8Array, options: { withFileTypes: true; recursive?: boolean }): Promise<Dirent[]>;
      readdir(path: string | Uint8Array, options?: string | { withFileTypes?: false; recursive?: boolean; encoding?: string }): Promise<string[]>;
      stat(path: string | Uint8Array): Promise<Stats>;
      stat(path: string | Uint8Array, options: { throwIfNoEntry: boolean }): Promise<Stats | undefined>;
      lstat(path: string | Uint8Array): Promise<Stats>;
      lstat(path: string | Uint8Array, options: { throwIfNoEntry: boolean }): Promise<Stats | undefined>;
      access(path: string | Uint8Array, mode?: number): Promise<void>;
      exists(path: string | Uint8Array): Promise<boolean>;
      mkdir(path: string | Uint8Array, options?: { recursive?: boolean }): Promise<string | undefined>;
      mkdtemp(prefix: string): Promise<string>;
      rm(path: string | Uint8Array, options?: { recursive?: boolean; force?: boolean }): Promise<void>;
      rmdir(path: string | Uint8Array, options?: { recursive?: boolean }): Promise<void>;
      unlink(path: string | Uint8Array): Promise<void>;
      rename(from: string | Uint8Array, to: string | Uint8Array): Promise<void>;
      copyFile(from: string | Uint8Array, to: string | Uint8Array, mode?: number): Promise<void>;
      realpath(path: string | Uint8Array): Promise<string>;
      cp(from: string | Uint8Array, to: string | Uint8Array, options?: CopyOptions): Promise<void>;
    }
    /** The functions of fs that return at once. */
    interface FilesAtOnce {
      readFileSync(path: string | Uint8Array, encoding: string | { encoding: string }): string;
      readFileSync(path: string | Uint8Array, options?: null | { encoding?: null }): Bytes;
      writeFileSync(path: string | Uint8Array, data: string | ArrayBufferView, options?: string | { encoding?: string; flag?: string }): void;
      appendFileSync(path: string | Uint8Array, data: string | ArrayBufferView, options?: string | { encoding?: string }): void;
      readdirSync(path: string | Uint8Array, options: { withFileTypes: true; recursive?: boolean }): Dirent[];
      readdirSync(path: string | Uint8Array, options?: string | { withFileTypes?: false; recursive?: boolean; encoding?: string }): string[];
      statSync(path: string | Uint8Array): Stats;
      statSync(path: string | Uint8Array, options: { throwIfNoEntry: boolean }): Stats | undefined;
      lstatSync(path: string | Uint8Array): Stats;
      lstatSync(path: string | Uint8Array, options: { throwIfNoEntry: boolean }): Stats | undefined;
      accessSync(path: string | Uint8Array, mode?: number): void;
      existsSync(path: string | Uint8Array): boolean;
      mkdirSync(path: string | Uint8Array, options?: { recursive?: boolean }): string | undefined;
      mkdtempSync(prefix: string): string;
      rmSync(path: string | Uint8Array, options?: { recursive?: boolean; force?: boolean }): void;
      rmdirSync(path: string | Uint8Array, options?: { recursive?: boolean }): void;
      unlinkSync(path: string | Uint8Array): void;
      renameSync(from: string | Uint8Array, to: string | Uint8Array): void;
      copyFileSync(from: string | Uint8Array, to: string | Uint8Array, mode?: number): void;
      realpathSync(path: string | Uint8Array): string;
      cpSync(from: string | Uint8Array, to: string | Uint8Array, options?: CopyOptions): void;
    }
  }

  var servers: Claudikins.Servers;
  var tools: Claudikins.Tools;
  var fs: Claudikins.Files & Claudikins.FilesAtOnce & { readonly promises: Claudikins.Files };
  /** Calls a tool whose name is known only at run time. */
  function callTool(server: string, tool: string, args?: object): Promise<any>;
  /** Shows an image, audio, a file or a text to the agent. */
  function display(value: unknown): void;
  /** Waits for milliseconds, or for a text such as "90s" or "1h30m". */
  function sleep(duration: number | string, options?: { signal?: any }): Promise<void>;

  /** The error of a tool that failed or could not be called. */
  interface ToolError extends Error {
    code: string;
    /** The next step. */
    hint?: string;
    /** What the server sent with its error. */
    data?: unknown;
  }
  var ToolError: {
    new (shape: { message: string; code?: string; hint?: string }): ToolError;
    readonly prototype: ToolError;
  };

  // The rest is also declared by the types of Node or of browsers, if the program is checked with them.
  namespace NodeJS {
    interface ProcessEnv extends Record<string, string | undefined> {}
    interface Process {
      env: ProcessEnv;
      argv: string[];
      execArgv: string[];
      title: string;
      readonly pid: number;
      readonly ppid: number;
      readonly version: string;
      cwd(): string;
      chdir(folder: string): void;
      exit(code?: any): never;
      nextTick(callback: (...args: any[]) => void, ...args: any[]): void;
      uptime(): number;
      emitWarning(warning: any, ...options: any[]): void;
    }
    interface Require {
      (id: string): any;
    }
    interface Module {
      exports: any;
    }
  }
  interface BufferConstructor {
    from(data: any, encoding?: any, length?: number): Claudikins.Bytes;
    alloc(size: number, fill?: any, encoding?: any): Claudikins.Bytes;
    concat(list: readonly Uint8Array[], totalLength?: number): Claudikins.Bytes;
    byteLength(data: any, encoding?: any): number;
    isBuffer(value: any): value is any;
  }
  interface Console {
    log(...values: any[]): void;
    info(...values: any[]): void;
    debug(...values: any[]): void;
    warn(...values: any[]): void;
    error(...values: any[]): void;
    trace(...values: any[]): void;
    table(rows?: any, columns?: any): void;
    dir(value?: any, options?: any): void;
    assert(condition?: any, ...values: any[]): void;
    count(label?: string): void;
    group(...values: any[]): void;
    groupEnd(): void;
    time(label?: string): void;
    timeEnd(label?: string): void;
  }
  var process: NodeJS.Process;
  var Buffer: BufferConstructor;
  var require: NodeJS.Require;
  var module: NodeJS.Module;
  var exports: any;
  var __filename: string;
  var __dirname: string;
  var global: typeof globalThis;
  var console: Console;
  function setTimeout(callback: (...args: any[]) => void, delayMs?: number, ...args: any[]): any;
  function setInterval(callback: (...args: any[]) => void, delayMs?: number, ...args: any[]): any;
  function setImmediate(callback: (...args: any[]) => void, ...args: any[]): any;
  function clearTimeout(timer: any): void;
  function clearInterval(timer: any): void;
  function clearImmediate(timer: any): void;
  function queueMicrotask(callback: () => void): void;
  function structuredClone<Value = any>(value: Value, options?: any): Value;
  function atob(data: string): string;
  function btoa(data: string): string;
}`;
