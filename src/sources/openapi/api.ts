/** An API as its requests need it: its operations, their parameters and bodies, and how its clients prove who they are. It is JSON, and is kept in a file. */
import type { Tool } from "@modelcontextprotocol/client";

/** The tools and operations of one document. `tools[i]` describes `operations[i]`. */
export interface Api {
  title: string;
  version: string;
  /** The addresses of the API, absolute, with the defaults of their variables filled in. */
  servers: string[];
  tools: Tool[];
  operations: Operation[];
  /** By their names in the document. */
  securitySchemes: Record<string, SecurityScheme>;
  /** Parts of the document that were left out, in words for people. */
  problems: string[];
}

export interface Operation {
  /** The name of its tool. */
  name: string;
  /** In capitals. */
  method: string;
  /** With placeholders, such as `/repos/{owner}`. */
  path: string;
  /** Its own addresses in place of the API's. */
  servers?: string[] | undefined;
  parameters: Parameter[];
  body?: Body | undefined;
  /** By status, such as `200`, `4XX` or `default`. */
  responses: Record<string, ResponseKind>;
  /** Alternatives. Each names the schemes that must all be used, with scopes. An empty object: none is needed. */
  security: Record<string, string[]>[];
  pages?: Pages | undefined;
}

export type ParameterStyle = "simple" | "label" | "matrix" | "form" | "spaceDelimited" | "pipeDelimited" | "deepObject";

export interface Parameter {
  /** Its field in the arguments of the tool. */
  argument: string;
  /** Its name in the request. */
  name: string;
  in: "path" | "query" | "header" | "cookie" | "querystring";
  style: ParameterStyle;
  explode: boolean;
  allowReserved: boolean;
  /** Of a parameter that is one document, such as `application/json`. */
  mediaType?: string | undefined;
  /** Sent if the caller gives no value: only for a required parameter whose schema has one possible value. */
  constant?: string | undefined;
}

export interface Body {
  isRequired: boolean;
  /** The media type that is sent. */
  mediaType: string;
  kind: "json" | "form" | "multipart" | "text" | "binary" | "xml";
  /**
   * The fields of an object that stand among the arguments, by argument: the name in the body. Undefined if the whole body is one
   * argument, `argument`.
   */
  fields?: Record<string, string> | undefined;
  argument?: string | undefined;
  /** How fields of forms are written, by their name in the body. */
  encoding?: Record<string, BodyEncoding> | undefined;
}

export interface BodyEncoding {
  mediaType?: string | undefined;
  style?: ParameterStyle | undefined;
  explode?: boolean | undefined;
  /** A file of the workspace, whose path is the argument. */
  isFile?: boolean | undefined;
}

export interface ResponseKind {
  kind: "json" | "text" | "binary" | "none";
  /** The text for people that the document has for this status. */
  description?: string | undefined;
}

/** How the next page of a list is asked for. Names of arguments, and paths of fields in the result. */
export type Pages = { items: string[] } & (
  | { by: "link" }
  /** An address, absolute or relative, in a field of the result. */
  | { by: "address"; field: string[] }
  | { by: "cursor"; argument: string; field: string[]; more?: string[] | undefined }
  /** The id of the last item is the cursor, as Stripe has it. */
  | { by: "last item"; argument: string; key: string; more?: string[] | undefined }
  | {
      by: "offset";
      argument: string;
      limit?: string | undefined;
      total?: string[] | undefined;
      more?: string[] | undefined;
    }
  | {
      by: "page";
      argument: string;
      first: number;
      limit?: string | undefined;
      total?: string[] | undefined;
      more?: string[] | undefined;
    }
);

export type SecurityScheme =
  | { type: "apiKey"; in: "header" | "query" | "cookie"; name: string; description?: string | undefined }
  | { type: "http"; scheme: string; description?: string | undefined }
  | { type: "oauth2"; flows: OAuthFlow[]; description?: string | undefined }
  | { type: "openIdConnect"; url: string; description?: string | undefined }
  | { type: "mutualTLS"; description?: string | undefined };

export interface OAuthFlow {
  kind: "authorizationCode" | "clientCredentials" | "deviceAuthorization" | "implicit" | "password";
  authorizationUrl?: string | undefined;
  deviceAuthorizationUrl?: string | undefined;
  tokenUrl?: string | undefined;
  refreshUrl?: string | undefined;
  scopes: string[];
}
