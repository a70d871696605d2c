/** A document with every way to write a parameter and a body. */
import { documentOf } from "./read.ts";

const text = { type: "string" };
const list = { type: "array", items: text, minItems: 1 };
const object = { type: "object", properties: { a: text, b: { type: "integer" } }, required: ["a", "b"] };

/** The styles that the standard allows in each place. */
const styles = {
  path: ["simple", "label", "matrix"],
  query: ["form", "spaceDelimited", "pipeDelimited", "deepObject"],
  header: ["simple"],
  cookie: ["form"],
};

function parametersOf(place: keyof typeof styles, isRequired: boolean): object[] {
  return styles[place].flatMap((style) =>
    [true, false].flatMap((explode) =>
      Object.entries({ text, list, object }).flatMap(([kind, schema]) => {
        const isPossible =
          kind === "text" ? style !== "deepObject" : style !== "deepObject" || (kind === "object" && explode);
        // The fields of exploded objects would have the same names.
        const isOwn = place === "path" || !(kind === "object" && explode && style === "form");
        const name = `${style}_${kind}${explode ? "_each" : ""}`;
        return isPossible && isOwn ? [{ name, in: place, style, explode, schema, required: isRequired }] : [];
      }),
    ),
  );
}

const inPath = parametersOf("path", true) as { name: string }[];
const content = { "application/json": { schema: object } };
const body = (mediaType: string, schema: object, more = {}) => ({
  required: true,
  content: { [mediaType]: { schema, ...more } },
});

export const allStyles: object = documentOf({
  [`/in/${inPath.map(({ name }) => `{${name}}`).join("/")}`]: { get: { parameters: inPath } },
  "/query": {
    get: {
      parameters: [
        ...parametersOf("query", false),
        { name: "reserved", in: "query", allowReserved: true, schema: text },
        { name: "document", in: "query", content },
      ],
    },
  },
  "/exploded": { get: { parameters: [{ name: "filter", in: "query", schema: object }] } },
  "/headers": { get: { parameters: [...parametersOf("header", false), ...parametersOf("cookie", false)] } },
  "/fixed?kind=all&limit={limit}#List": {
    get: { parameters: [{ name: "limit", in: "query", schema: { type: "integer" } }] },
  },
  "/json": { post: { requestBody: body("application/merge-patch+json", object) } },
  "/clash/{a}": {
    put: {
      parameters: [{ name: "a", in: "path", required: true, schema: text }],
      requestBody: body("application/json", object),
    },
  },
  "/either": {
    post: {
      requestBody: body("application/json", {
        ...object,
        required: ["a"],
        anyOf: [{ required: ["b"] }, { required: ["c"] }],
      }),
    },
  },
  "/form": {
    post: {
      requestBody: body(
        "application/x-www-form-urlencoded",
        { type: "object", properties: { text, list, object, deep: { ...object }, joined: list } },
        { encoding: { deep: { style: "deepObject", explode: true }, joined: { style: "form", explode: false } } },
      ),
    },
  },
  "/parts": {
    post: {
      requestBody: body(
        "multipart/form-data",
        { type: "object", properties: { file: { type: "string", format: "binary" }, text, list, object, csv: text } },
        { encoding: { csv: { contentType: "text/csv" } } },
      ),
    },
  },
  "/file": { post: { requestBody: body("multipart/form-data", { type: "string", format: "binary" }) } },
  "/bytes": { put: { requestBody: body("image/png", { type: "string", format: "binary" }) } },
  "/text": { put: { requestBody: body("text/plain", text) } },
});
