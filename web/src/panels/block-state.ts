// What a reader can change in the panel of chapter 17, and how an address keeps it: after the panel's
// anchor, what differs from the initial values (#panel-block-panel&x.2.1=-5&attention=0&token=2).
import { type Matrix, WEIGHTS, type Weight } from "./block";

export interface State {
  x: Matrix;
  weights: Record<Weight, Matrix>;
  attention: boolean;
}

export const LARGEST = 1e6; // in absolute value, of a number that may be typed

export type Grid = "x" | Weight;
const GRIDS: readonly Grid[] = ["x", ...WEIGHTS];

export function gridOf(state: State, grid: Grid): Matrix {
  return grid === "x" ? state.x : state.weights[grid];
}

export function changed(state: State, grid: Grid, i: number, j: number, value: number): State {
  const matrix = gridOf(state, grid).map((row, at) => (at === i ? row.map((old, k) => (k === j ? value : old)) : row));
  return grid === "x" ? { ...state, x: matrix } : { ...state, weights: { ...state.weights, [grid]: matrix } };
}

export function equal(a: State, b: State): boolean {
  return a.attention === b.attention && GRIDS.every((grid) => String(gridOf(a, grid)) === String(gridOf(b, grid)));
}

export function toHash(anchor: string, state: State, token: number, initial: State, usual: number): string {
  const parts = GRIDS.flatMap((grid) =>
    gridOf(state, grid).flatMap((row, i) =>
      row.flatMap((value, j) =>
        value === gridOf(initial, grid)[i]?.[j] ? [] : [`${grid}.${i + 1}.${j + 1}=${value}`],
      ),
    ),
  );
  if (!state.attention) parts.push("attention=0");
  if (token !== usual) parts.push(`token=${token + 1}`);
  return `#${[anchor, ...parts].join("&")}`;
}

/** The state that an address keeps; null if it is not this panel's. What cannot be read is left out. */
export function fromHash(
  hash: string,
  anchor: string,
  initial: State,
  usual: number,
): { state: State; token: number } | null {
  const [name, ...parts] = hash.replace(/^#/, "").split("&");
  if (name !== anchor) return null;
  let [state, token] = [initial, usual];
  for (const part of parts) {
    const [key = "", text = ""] = part.split("=");
    const value = text === "" ? NaN : Number(text);
    const [grid = "", i = "", j = ""] = key.split(".");
    const [row, column] = [Number(i) - 1, Number(j) - 1];
    if (key === "attention") state = { ...state, attention: value !== 0 };
    else if (key === "token" && initial.x[value - 1]) token = value - 1;
    else if (isGrid(grid) && gridOf(initial, grid)[row]?.[column] !== undefined && Math.abs(value) <= LARGEST)
      state = changed(state, grid, row, column, value);
  }
  return { state, token };
}

function isGrid(name: string): name is Grid {
  return (GRIDS as readonly string[]).includes(name);
}
