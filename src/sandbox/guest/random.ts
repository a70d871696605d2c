/** `Math.random` with a seed from the host. The engine's own would repeat in every execution that starts from the same snapshot. */

/** The generator xoshiro128** (Blackman and Vigna), with 53 bits from two steps. */
export function randomFrom(seed: [number, number, number, number]): () => number {
  let [a, b, c, d] = seed;
  const rotate = (value: number, by: number) => (value << by) | (value >>> (32 - by));
  const next = () => {
    const result = Math.imul(rotate(Math.imul(b, 5), 7), 9) >>> 0;
    const shifted = b << 9;
    c ^= a;
    d ^= b;
    b ^= c;
    a ^= d;
    c ^= shifted;
    d = rotate(d, 11);
    return result;
  };
  return () => ((next() >>> 5) * 67_108_864 + (next() >>> 6)) / 9_007_199_254_740_992;
}
