// The block of chapter 17 in small: one head, causal mask, LayerNorm before each half, tanh GELU.
// Rows times matrices, in the order and with the names of experiments/block_panel.py.
import { softmax } from "./softmax";

export type Matrix = readonly (readonly number[])[];

export const WEIGHTS = ["w_q", "w_k", "w_v", "w_o", "w_1", "w_2"] as const;
export type Weight = (typeof WEIGHTS)[number];

export const STAGES = ["x", "u", "q", "k", "v", "scores", "weights", "a", "h", "u2", "expanded", "m", "y"] as const;
export type Stage = (typeof STAGES)[number];

export interface Inputs {
  x: Matrix;
  weights: Record<Weight, Matrix>;
  eps: number;
  attention: boolean;
}

export interface Calculation extends Record<Stage, Matrix> {
  /** The values mixed by the weights, before W_O. */
  mixed: Matrix;
  /** gelu of `expanded`. */
  bent: Matrix;
}

export function dot(a: readonly number[], b: readonly number[]): number {
  return a.reduce((sum, value, i) => sum + value * (b[i] ?? NaN), 0);
}

export function column(matrix: Matrix, j: number): number[] {
  return matrix.map((row) => row[j] ?? NaN);
}

function times(a: Matrix, b: Matrix): Matrix {
  const columns = (b[0] ?? []).map((_, j) => column(b, j));
  return a.map((row) => columns.map((one) => dot(row, one)));
}

function plus(a: Matrix, b: Matrix): Matrix {
  return a.map((row, i) => row.map((value, j) => value + (b[i]?.[j] ?? NaN)));
}

/** Mean and biased variance of a token's vector. */
export function moments(row: readonly number[]): { mean: number; variance: number } {
  const mean = row.reduce((a, b) => a + b, 0) / row.length;
  return { mean, variance: row.reduce((sum, value) => sum + (value - mean) ** 2, 0) / row.length };
}

function layerNorm(x: Matrix, eps: number): Matrix {
  return x.map((row) => {
    const { mean, variance } = moments(row);
    return row.map((value) => (value - mean) / Math.sqrt(variance + eps));
  });
}

export function gelu(z: number): number {
  return 0.5 * z * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (z + 0.044715 * z ** 3)));
}

export function calculate({ x, weights: w, eps, attention }: Inputs): Calculation {
  const u = layerNorm(x, eps);
  const [q, k, v] = [times(u, w.w_q), times(u, w.w_k), times(u, w.w_v)];
  const root = Math.sqrt(w.w_q[0]?.length ?? NaN); // the width of the one head
  const scores = q.map((query) => k.map((key) => dot(query, key) / root));
  const weights = scores.map((row, i) => softmax(row.map((score, j) => (j > i ? -Infinity : score))));
  const mixed = times(weights, v);
  const a = attention ? times(mixed, w.w_o) : x.map((row) => row.map(() => 0));
  const h = plus(x, a);
  const u2 = layerNorm(h, eps);
  const expanded = times(u2, w.w_1);
  const bent = expanded.map((row) => row.map(gelu));
  const m = times(bent, w.w_2);
  return { x, u, q, k, v, scores, weights, mixed, a, h, u2, expanded, bent, m, y: plus(h, m) };
}
