/** The library behind `util.inspect` and `console.log`. */
import * as inspect from "node-inspect-extracted";
import { leave } from "./leave.ts";

leave("inspect", inspect);
