/** The library behind `Buffer`. */
import * as buffer from "buffer/";
import { leave } from "./leave.ts";

leave("buffer", buffer);
