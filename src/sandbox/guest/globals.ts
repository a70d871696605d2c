/** The globals of the web and of Node that agents use and the engine has not. */

/** By name; defined on the global object once, before any code runs. */
export const globals: Record<string, unknown> = {};
