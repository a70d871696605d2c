/** The JSON of published servers. It is a file of its own so that help texts load nothing else. */
import { about, exactly, list, oneOf, record, text, texts, yesOrNo } from "../../json-shape.ts";
import { kinds } from "../../server-registries/way.ts";

const kind = oneOf(...kinds);

export const reviewShape = record({
  name: text,
  version: text,
  "title?": text,
  description: text,
  registry: text,
  status: oneOf("active", "deprecated", "deleted"),
  "statusMessage?": text,
  "publishedOn?": text,
  "repository?": text,
  "website?": text,
  via: about("How it is reached or started; --via chooses", kind),
  "command?": about("The command line, with values that are still missing in angle brackets", texts),
  "url?": text,
  needs: list(
    record({
      name: about("For --set", text),
      required: yesOrNo,
      secret: yesOrNo,
      "description?": text,
      "default?": text,
      "choices?": texts,
      "fromEnvironment?": about("It is taken from your environment", exactly(true)),
    }),
  ),
  warnings: texts,
  others: about("Other ways to use the server", list(kind)),
  refused: about("Ways that claudikins does not use, and why", texts),
});

/** A server in a list. */
export const foundShape = record({
  name: text,
  "title?": text,
  description: text,
  "version?": about("Missing for a server of the catalog", text),
  status: oneOf("active", "deprecated", "deleted"),
  registry: about("The address of the registry, or catalog", text),
});
