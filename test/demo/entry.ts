/** The demo server as a program, like `claudikins demo`. */
import { startDemo } from "../../src/demo/server.ts";

await startDemo();
