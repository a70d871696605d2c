/**
 * Stands in the executable for the SDK's modules of the same name, which load a JSON Schema compiler when the SDK is loaded.
 * claudikins checks arguments and results itself, within limits, so a compiler would only take time and space.
 */
export { default as process } from "node:process";

/** Only browsers restrict requests to other origins. */
export const CORS_IS_POSSIBLE = false;

/** The SDK makes a validator for each client and server. Methods of the SDK that use it are not used. */
export class DefaultJsonSchemaValidator {
  getValidator(): never {
    throw new Error("claudikins does not compile schemas");
  }
}
