// Random numbers that are the same for everyone: a small generator with a seed, and normal numbers
// drawn from it by d3-random.
import { randomNormal } from "d3-random";

/** sfc32 (PractRand's small fast counter): uniform in [0, 1), 32 bits. */
export function uniform(seed: number): () => number {
  let [a, b, c, counter] = [0, seed | 0, (seed / 2 ** 32) | 0, 1];
  const next = () => {
    const sum = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (c << 21) | (c >>> 11);
    c = (c + sum) | 0;
    return (sum >>> 0) / 2 ** 32;
  };
  for (let i = 0; i < 12; i++) next(); // until the seed has reached every bit
  return next;
}

/** Independent normal numbers, mean 0, variance 1. */
export function normal(seed: number): () => number {
  return randomNormal.source(uniform(seed))(0, 1);
}
