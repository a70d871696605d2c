/** The demo server as a program of its own, as `claudikins demo` starts it. */
import { startDemo } from "../../src/demo/server.ts";

await startDemo();
