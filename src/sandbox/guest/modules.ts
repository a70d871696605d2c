/** The modules that code may import or require, by name without `node:`. */

/** Made when first asked for. */
export const nodeModules: Record<string, () => object> = {};
