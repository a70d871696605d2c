/** Reads how the clients of an API prove who they are. */
import { isObject, type JsonObject, stringsIn } from "../../base/json-object.ts";
import type { OAuthFlow, SecurityScheme } from "./api.ts";
import { at, type Documents, type ObjectPlace } from "./document/documents.ts";
import { shortText } from "./tool-text.ts";

/** Characters of the description of a scheme. */
const maxSchemeDescriptionChars = 300;

/** Schemes of one document. */
const maxSchemes = 100;

/** Scopes of one flow. GitHub has about 60, and Microsoft Graph several hundred. */
const maxScopes = 2_000;

/** Alternatives of one operation. */
const maxAlternatives = 50;

export function securitySchemes(documents: Documents): Record<string, SecurityScheme> {
  const root: ObjectPlace = { value: documents.root.value, document: documents.root };
  const place = documents.object(
    typeof root.value["swagger"] === "string" ? at(root, "securityDefinitions") : componentsOf(documents, root),
  );
  const found: Record<string, SecurityScheme> = Object.create(null);
  for (const name of place ? Object.keys(place.value).slice(0, maxSchemes) : []) {
    const scheme = documents.object(at(place!, name));
    const read = scheme && schemeOf(scheme.value);
    if (read) found[name] = read;
    else documents.tell(`The security scheme ${shortText(name, 80)} has a type that is not known.`);
  }
  return found;
}

function componentsOf(documents: Documents, root: ObjectPlace) {
  const components = documents.object(at(root, "components"));
  return components ? at(components, "securitySchemes") : { value: undefined, document: root.document };
}

function schemeOf(scheme: JsonObject): SecurityScheme | undefined {
  const text = (key: string) => (typeof scheme[key] === "string" ? scheme[key] : undefined);
  const about = text("description");
  const description = about === undefined ? {} : { description: shortText(about, maxSchemeDescriptionChars) };
  const place = text("in");
  switch (text("type")?.toLowerCase()) {
    case "apikey":
      return (place === "header" || place === "query" || place === "cookie") && text("name") !== undefined
        ? { type: "apiKey", in: place, name: text("name")!, ...description }
        : undefined;
    case "basic":
      return { type: "http", scheme: "basic", ...description };
    case "http":
      return { type: "http", scheme: (text("scheme") ?? "bearer").toLowerCase(), ...description };
    case "oauth2":
      return { type: "oauth2", flows: flowsOf(scheme), ...description };
    case "openidconnect":
      return text("openIdConnectUrl") === undefined
        ? undefined
        : { type: "openIdConnect", url: text("openIdConnectUrl")!, ...description };
    case "mutualtls":
      return { type: "mutualTLS", ...description };
    default:
      return undefined;
  }
}

const kinds = ["authorizationCode", "clientCredentials", "deviceAuthorization", "implicit", "password"] as const;

/** Names of flows in Swagger 2. */
const oldKinds: Record<string, OAuthFlow["kind"]> = {
  accessCode: "authorizationCode",
  application: "clientCredentials",
  implicit: "implicit",
  password: "password",
};

function flowsOf(scheme: JsonObject): OAuthFlow[] {
  const { flow, flows } = scheme;
  const old = typeof flow === "string" ? oldKinds[flow] : undefined;
  if (old) return [flowOf(old, scheme)];
  return isObject(flows) ? kinds.flatMap((kind) => (isObject(flows[kind]) ? [flowOf(kind, flows[kind])] : [])) : [];
}

function flowOf(kind: OAuthFlow["kind"], flow: JsonObject): OAuthFlow {
  const addresses = ["authorizationUrl", "deviceAuthorizationUrl", "tokenUrl", "refreshUrl"].flatMap((key) =>
    typeof flow[key] === "string" ? [[key, flow[key]]] : [],
  );
  return {
    kind,
    ...Object.fromEntries(addresses),
    scopes: isObject(flow["scopes"]) ? Object.keys(flow["scopes"]).slice(0, maxScopes) : [],
  };
}

/** Alternatives with their schemes and scopes. Undefined if the value is not a list. */
export function requirementsOf(security: unknown): Record<string, string[]>[] | undefined {
  if (!Array.isArray(security)) return undefined;
  return security
    .filter(isObject)
    .slice(0, maxAlternatives)
    .map((each) => Object.fromEntries(Object.entries(each).map(([name, scopes]) => [name, stringsIn(scopes)])));
}
