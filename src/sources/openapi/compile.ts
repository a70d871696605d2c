/** Makes an API of its documents, from the first one to the last. */
import { isObject } from "../../base/json-object.ts";
import { serversOf } from "./addresses.ts";
import type { Documents } from "./document/documents.ts";
import { invalid } from "./document/parse-document.ts";
import { readOperations, type Selection } from "./operations.ts";
import { shortText } from "./plain-text.ts";
import { securitySchemes } from "./security.ts";
import { StoredApi } from "./stored-api.ts";

/** Characters of the title and the version. */
const maxInfoChars = 200;

/** Throws CONFIG_INVALID if the document does not describe an API. Returns the bytes of a `StoredApi`. */
export function compiled(documents: Documents, selection: Selection, baseUrl: string | undefined): Uint8Array {
  const { value } = documents.root;
  const version = value["openapi"] ?? value["swagger"];
  if (!/^(?:2|3\.\d)/.test(String(version))) {
    const says =
      version === undefined
        ? 'it has neither "openapi" nor "swagger"'
        : `its version is ${shortText(String(version), 40)}`;
    throw invalid(
      `The document is not OpenAPI 3 or Swagger 2: ${says}`,
      "Give the address or the path of an OpenAPI document.",
    );
  }
  const info = isObject(value["info"]) ? value["info"] : {};
  const text = (key: string) =>
    typeof info[key] === "string" || typeof info[key] === "number" ? shortText(String(info[key]), maxInfoChars) : "";
  const servers = baseUrl === undefined ? serversOf(documents.root) : [baseUrl.replace(/\/$/, "")];
  if (servers.length === 0) documents.tell('The document names no complete address of the API. Set "baseUrl".');
  const schemes = securitySchemes(documents);
  const stored = new StoredApi();
  readOperations(documents, selection, Object.keys(schemes).length > 0, baseUrl, (tool, operation) =>
    stored.add(tool, operation),
  );
  return stored.finished({
    title: text("title"),
    version: text("version"),
    servers,
    securitySchemes: schemes,
    problems: [...documents.problems],
  });
}
