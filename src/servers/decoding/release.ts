/** Frees the bytes' memory at once, for every user of their buffer. The garbage collector only sees a small object, and would wait. */
export function release({ buffer }: Uint8Array): void {
  (buffer as ArrayBuffer).transfer(0);
}
