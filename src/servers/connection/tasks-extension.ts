/** The extension of MCP 2026-07-28 for calls that go on as tasks. */

export const tasksExtension = "io.modelcontextprotocol/tasks";

/** The capabilities of a client or a server, with the extension. */
export function withTasks<T extends { extensions?: object | undefined }>(capabilities: T) {
  return { ...capabilities, extensions: { ...capabilities.extensions, [tasksExtension]: {} } };
}
