/** Units of time and size in milliseconds and bytes, and sizes as text. */

export const kilobyte = 1_024;
export const megabyte = 1_048_576;

export const minuteMs = 60_000;
export const hourMs = 3_600_000;
export const dayMs = 86_400_000;

/** As shown in errors: `256 MB`. */
export function megabytes(bytes: number): string {
  return `${bytes / megabyte} MB`;
}

/** Rounded, as in `57 MB`. */
export function aboutMegabytes(bytes: number): string {
  return `${Math.round(bytes / megabyte)} MB`;
}
