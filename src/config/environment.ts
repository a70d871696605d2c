/** The process environment: read here and nowhere else, so that everything above can be given another one in tests. */

export type Environment = Readonly<Record<string, string | undefined>>;

export function processEnvironment(): Environment {
  return process.env;
}
