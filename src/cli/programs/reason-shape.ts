/** A reason why a saved program would break, in JSON. */
import { about, number, record, text } from "../../base/json-shape.ts";

export const reasonShape = record({
  "tool?": about("The tool that has changed", text),
  "line?": about("The line of its call", number),
  text: about("What has changed", text),
  "effect?": about("What the program then does", text),
});
