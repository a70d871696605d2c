/** Reads a document without any code of `src`: its operations, parameters and bodies, as the standard describes them. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { parse } from "yaml";

export type Schema = Record<string, unknown>;

/** A value, and the file whose references it uses. */
export interface Place {
  value: unknown;
  file: string;
}

export interface DocumentParameter {
  name: string;
  in: string;
  isRequired: boolean;
  style: string;
  explode: boolean;
  /** The media type of a parameter that is one document. */
  mediaType?: string | undefined;
  schema: Place;
}

export interface DocumentOperation {
  method: string;
  path: string;
  parameters: DocumentParameter[];
  /** By media type. Undefined if there is no body. */
  bodies?: Map<string, DocumentBody> | undefined;
  isBodyRequired: boolean;
}

export interface DocumentBody {
  schema: Place;
  encoding: (field: string) => FieldEncoding;
}

export interface FieldEncoding {
  style?: string | undefined;
  explode?: boolean | undefined;
  mediaType?: string | undefined;
}

/** References of references. A longer chain is a circle. */
const maxReferences = 50;

const methods = ["get", "put", "post", "delete", "options", "head", "patch", "query"];

export const isRecord = (value: unknown): value is Schema =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export class OpenDocument {
  readonly #files = new Map<string, unknown>();
  readonly root: Place;

  constructor(file: string, value?: unknown) {
    if (value !== undefined) this.#files.set(file, value);
    this.root = { value: this.#read(file), file };
  }

  get isSwagger2(): boolean {
    return this.#record(this.root)["swagger"] !== undefined;
  }

  /** The part of a place, with its references followed. */
  at(place: Place, key: string | number): Place {
    const { value, file } = this.follow(place);
    return this.follow({ value: (value as Schema | undefined)?.[key], file });
  }

  follow(place: Place): Place {
    let found = place;
    for (let count = 0; count < maxReferences; count++) {
      const reference = isRecord(found.value) ? found.value["$ref"] : undefined;
      if (typeof reference !== "string") return found;
      const [path = "", pointer = ""] = reference.split("#");
      const file = path === "" ? found.file : resolve(dirname(found.file), decodeURIComponent(path));
      let value = this.#read(file);
      for (const part of pointer.split("/").slice(1)) {
        const key = decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~");
        // A part of the way may be a reference itself.
        value = (this.follow({ value, file }).value as Schema | undefined)?.[key];
      }
      found = { value, file };
    }
    return { value: undefined, file: found.file };
  }

  operations(): DocumentOperation[] {
    const paths = this.at(this.root, "paths");
    return Object.keys(this.#record(paths)).flatMap((path) => {
      const item = this.at(paths, path);
      const named = methods.filter((method) => isRecord(this.at(item, method).value) && !path.startsWith("x-"));
      return named.map((method) => this.#operation(method, path, item));
    });
  }

  #operation(method: string, path: string, item: Place): DocumentOperation {
    const operation = this.at(item, method);
    const all = new Map<string, Place>();
    for (const owner of [item, operation]) {
      const list = this.at(owner, "parameters");
      for (const index of Array.isArray(list.value) ? list.value.keys() : []) {
        const parameter = this.at(list, index);
        const { in: where, name } = this.#record(parameter);
        all.set(`${String(where)} ${String(name)}`, parameter);
      }
    }
    const found = [...all.values()].flatMap((place) =>
      isRecord(place.value) ? [this.#inQuery(place, place.value, path)] : [],
    );
    const isBody = (place: Place) => ["body", "formData"].includes(String(this.#record(place)["in"]));
    const parameters = found.filter((each) => !isBody(each)).map((each) => this.#parameter(each));
    // HTTP gives the body of these methods no meaning.
    if (method === "get" || method === "head")
      return { method: method.toUpperCase(), path, parameters, isBodyRequired: false };
    const body = this.isSwagger2 ? this.#oldBody(operation, found.filter(isBody)) : this.#body(operation);
    return { method: method.toUpperCase(), path, parameters, ...body };
  }

  /** Some documents say "path" for what stands in the query of a path. */
  #inQuery(place: Place, value: Schema, path: string): Place {
    const pair = [...path.matchAll(/[?&]([^=&#{}]+)=\{([^{}]+)\}/g)].find(([, , name]) => name === value["name"]);
    return pair && value["in"] === "path"
      ? { value: { ...value, in: "query", name: pair[1] }, file: place.file }
      : place;
  }

  #parameter(place: Place): DocumentParameter {
    const parameter = this.#record(place);
    const where = String(parameter["in"]);
    const content = Object.keys(this.#record(this.at(place, "content")))[0];
    const usual = where === "path" || where === "header" ? "simple" : "form";
    const style = this.isSwagger2 ? oldStyle(parameter, usual) : newStyle(parameter, usual);
    return {
      name: String(parameter["name"]),
      in: where,
      isRequired: parameter["required"] === true || where === "path",
      ...style,
      mediaType: content,
      schema: content
        ? this.at(this.at(this.at(place, "content"), content), "schema")
        : this.isSwagger2
          ? place
          : this.at(place, "schema"),
    };
  }

  #body(operation: Place): Pick<DocumentOperation, "bodies" | "isBodyRequired"> {
    const body = this.at(operation, "requestBody");
    const content = this.at(body, "content");
    const mediaTypes = Object.keys(this.#record(content));
    if (mediaTypes.length === 0) return { isBodyRequired: false };
    const bodies = mediaTypes.map((mediaType): [string, DocumentBody] => {
      const media = this.at(content, mediaType);
      return [mediaType, { schema: this.at(media, "schema"), encoding: (field) => this.#encoding(media, field) }];
    });
    return { bodies: new Map(bodies), isBodyRequired: this.#record(body)["required"] === true };
  }

  #encoding(media: Place, field: string): FieldEncoding {
    const encoding = this.#record(this.at(this.at(media, "encoding"), field));
    const { contentType, style, explode } = encoding;
    return {
      ...(typeof contentType === "string" ? { mediaType: contentType } : {}),
      ...(style === undefined && explode === undefined ? {} : newStyle(encoding, "form")),
    };
  }

  #oldBody(operation: Place, found: readonly Place[]): Pick<DocumentOperation, "bodies" | "isBodyRequired"> {
    if (found.length === 0) return { isBodyRequired: false };
    const own = this.at(operation, "consumes").value ?? this.at(this.root, "consumes").value;
    const consumes = Array.isArray(own) ? own.map(String) : [];
    const whole = found.find((place) => this.#record(place)["in"] === "body");
    if (whole) {
      const isRequired = this.#record(whole)["required"] === true;
      const body = { schema: this.at(whole, "schema"), encoding: () => ({}) };
      const mediaTypes = consumes.filter((each) => !/form/.test(each));
      return {
        bodies: new Map((mediaTypes.length > 0 ? mediaTypes : ["application/json"]).map((each) => [each, body])),
        isBodyRequired: isRequired,
      };
    }
    const properties = Object.fromEntries(found.map((place) => [String(this.#record(place)["name"]), place.value]));
    const required = found
      .filter((place) => this.#record(place)["required"] === true)
      .map((place) => String(this.#record(place)["name"]));
    const encoding = (field: string): FieldEncoding => {
      const parameter = properties[field] as Schema | undefined;
      return parameter?.["type"] === "array" ? oldStyle(parameter, "form") : {};
    };
    const body = { schema: { value: { type: "object", properties, required }, file: operation.file }, encoding };
    const forms = consumes.filter((each) => /form/.test(each));
    const usual = Object.values(properties).some((each) => (each as Schema)["type"] === "file")
      ? ["multipart/form-data"]
      : ["application/x-www-form-urlencoded", "multipart/form-data"];
    return {
      bodies: new Map((forms.length > 0 ? forms : usual).map((each) => [each, body])),
      isBodyRequired: required.length > 0,
    };
  }

  #record(place: Place): Schema {
    const { value } = this.follow(place);
    return isRecord(value) ? value : {};
  }

  #read(file: string): unknown {
    if (!this.#files.has(file)) {
      const text = existsSync(file) ? readFileSync(file, "utf8") : "null";
      this.#files.set(file, /\.ya?ml$/.test(file) ? parse(text, { merge: true, maxAliasCount: -1 }) : JSON.parse(text));
    }
    return this.#files.get(file);
  }
}

function newStyle({ style, explode }: Schema, usual: string): { style: string; explode: boolean } {
  const chosen = typeof style === "string" ? style : usual;
  // An object in brackets has no other form than the exploded one.
  return {
    style: chosen,
    explode: typeof explode === "boolean" ? explode : chosen === "form" || chosen === "deepObject",
  };
}

function oldStyle({ collectionFormat }: Schema, usual: string): { style: string; explode: boolean } {
  const style = { ssv: "spaceDelimited", pipes: "pipeDelimited", tsv: "tabDelimited" }[String(collectionFormat)];
  return { style: style ?? usual, explode: collectionFormat === "multi" };
}
