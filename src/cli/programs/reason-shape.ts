/** A reason why a saved program would break, in JSON. */
import { about, number, record, text } from "../../base/json-shape.ts";

export const reasonShape = record({
  "tool?": about("The tool that has changed", text),
  "line?": about("The line of its call", number),
  "recording?": about("The recording that the program no longer does, whatever has changed", text),
  text: about("What has changed", text),
  "effect?": about("What the program then does", text),
});
