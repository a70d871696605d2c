/** The two mounts in temporary folders, with the operations that the sandbox uses. */
import { join } from "node:path";
import { Files, type FilesOptions } from "../../src/sandbox/host/files.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary.ts";

/** With and without paths of open folders: both must work everywhere. */
export const bothWays = [true, false].filter((byDescriptor) => !byDescriptor || process.platform === "linux");

export interface Answer {
  value?: unknown;
  error?: { code: string; message: string; syscall: string; path?: string; dest?: string; hint?: string };
}

export class GuestFiles implements Disposable {
  /** The folder around the mounts: code must not reach the `secret.txt` in it. */
  readonly around: TemporaryFolder = temporaryFolder();
  readonly mounts = { workspace: join(this.around.path, "workspace"), registry: join(this.around.path, "registry") };
  readonly files: Files;

  constructor(options: FilesOptions = {}) {
    this.around.write("secret.txt", "s3cret");
    this.files = new Files(this.mounts, options);
  }

  run(operation: string, path: unknown, more: object = {}): Answer {
    return JSON.parse(this.files.run(operation, JSON.stringify({ path, ...more })));
  }

  /** The value of an operation that is expected to succeed. */
  value(operation: string, path: string, more: object = {}): unknown {
    const answer = this.run(operation, path, more);
    if (answer.error) throw new Error(answer.error.message);
    return answer.value;
  }

  /** The code of the error, or "" without an error. */
  code(operation: string, path: unknown, more: object = {}): string {
    return this.run(operation, path, more).error?.code ?? "";
  }

  read(path: string): unknown {
    return this.value("readFile", path);
  }

  write(path: string, data: string, flag = "w"): void {
    this.value("writeFile", path, { data, flag });
  }

  /** The names in a folder and its subfolders. */
  names(path: string): string[] {
    const entries = this.value("readdir", path, { recursive: true }) as { name: string; parent: string }[];
    return entries.map(({ name, parent }) => (parent ? `${parent}/${name}` : name));
  }

  [Symbol.dispose](): void {
    this.around[Symbol.dispose]();
  }
}
