// The softmax and what is said of a row of weights.

/** Weights of scores; those that are -Infinity get none. */
export function softmax(scores: ArrayLike<number>): number[] {
  const all = Array.from(scores);
  const largest = Math.max(...all);
  const powers = all.map((score) => Math.exp(score - largest));
  const sum = powers.reduce((a, b) => a + b, 0);
  return powers.map((power) => power / sum);
}

/** exp of the entropy: how many tokens a row of weights uses. */
export function effectiveTokens(weights: readonly number[]): number {
  return Math.exp(weights.reduce((entropy, w) => (w > 0 ? entropy - w * Math.log(w) : entropy), 0));
}

/** The trace of the softmax's Jacobian: the sum of w(1 - w). */
export function jacobianTrace(weights: readonly number[]): number {
  return weights.reduce((trace, w) => trace + w * (1 - w), 0);
}

/** The variance of a sample, divided by n - 1. */
export function variance(values: ArrayLike<number>): number {
  const all = Array.from(values);
  const mean = all.reduce((a, b) => a + b, 0) / all.length;
  return all.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (all.length - 1);
}
