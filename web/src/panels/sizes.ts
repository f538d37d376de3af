// How many parameters does a transformer have, part by part? The formulas of model/arithmetic.py in whole
// numbers (exact below 2^53), and each of them as a text in which names stand for numbers.

export type Shape = Readonly<Record<string, number>>;

/** A GPT-2: width, blocks, vocabulary, context (gpt2_parts, and what one block is made of). */
export function gpt2Sizes({ width: d = 0, blocks = 0, vocabulary = 0, context = 0 }: Shape): Shape {
  const one = { attention: 4 * d * d + 4 * d, mlp: 8 * d * d + 5 * d, norm: 4 * d };
  const block = one.attention + one.mlp + one.norm;
  const parts = {
    token_embeddings: vocabulary * d,
    position_embeddings: context * d,
    blocks: blocks * block,
    final_norm: 2 * d,
  };
  return { ...one, block, ...parts, total: sum(parts) };
}

/** A model of today: width, blocks, vocabulary, heads, kv_heads, hidden (modern_model_parts, cache_bytes). */
export function modernSizes(shape: Shape): Shape {
  const { width: d = 0, blocks = 0, vocabulary = 0, heads = 1, kv_heads = 0, hidden = 0 } = shape;
  const shared = kv_heads * (d / heads);
  const one = { attention: 2 * d * d + 2 * d * shared, mlp: 3 * d * hidden, norm: 2 * d };
  const block = one.attention + one.mlp + one.norm;
  const parts = {
    token_embeddings: vocabulary * d,
    blocks: blocks * block,
    final_norm: d,
    output: vocabulary * d,
  };
  return { ...one, block, ...parts, total: sum(parts), cache_bytes: 2 * blocks * shared * BYTES };
}

const BYTES = 2; // of a number in the cache of keys and values

function sum(parts: Record<string, number>): number {
  return Object.values(parts).reduce((a, b) => a + b, 0);
}

/** What a calculator asks for, what it works out, and which shapes cannot be. */
export interface Kind {
  /** What is asked for, with the least and the largest that may be typed. */
  fields: Readonly<Record<string, readonly [number, number]>>;
  sizes: (shape: Shape) => Shape;
  /** Groups of lines, each line with its formula: {names} stand for numbers, ^2 for a square. */
  lines: readonly { group: string; of: Readonly<Record<string, string>> }[];
  /** The words for what is wrong with a shape whose numbers are all within bounds; null if nothing is. */
  impossible: (shape: Shape) => string | null;
}

const FIELDS = { width: [1, 65_536], blocks: [1, 1000], vocabulary: [1, 10_000_000] } as const;

export const GPT2: Kind = {
  fields: { ...FIELDS, context: [1, 10_000_000] },
  sizes: gpt2Sizes,
  lines: [
    {
      group: "one_block",
      of: {
        attention: "4 × {width}^2 + 4 × {width}",
        mlp: "8 × {width}^2 + 5 × {width}",
        norm: "4 × {width}",
        block: "12 × {width}^2 + 13 × {width}",
      },
    },
    {
      group: "whole",
      of: {
        token_embeddings: "{vocabulary} × {width}",
        position_embeddings: "{context} × {width}",
        blocks: "{count} × {block}",
        final_norm: "2 × {width}",
        total:
          "{vocabulary} × {width} + {context} × {width} + {count} × (12 × {width}^2 + 13 × {width}) + 2 × {width}",
      },
    },
  ],
  impossible: () => null,
};

export const MODERN: Kind = {
  fields: { ...FIELDS, heads: [1, 4096], kv_heads: [1, 4096], hidden: [1, 1_000_000] },
  sizes: modernSizes,
  lines: [
    {
      group: "one_block",
      of: {
        attention: "2 × {width}^2 + 2 × {width} × {kv_heads} × {head_width}",
        mlp: "3 × {width} × {hidden}",
        norm: "2 × {width}",
        block: "{attention} + {mlp} + {norm}",
      },
    },
    {
      group: "whole",
      of: {
        token_embeddings: "{vocabulary} × {width}",
        blocks: "{count} × {block}",
        final_norm: "{width}",
        output: "{vocabulary} × {width}",
        total: "2 × {vocabulary} × {width} + {count} × {block} + {width}",
      },
    },
    { group: "memory", of: { cache_bytes: `2 × {count} × {kv_heads} × {head_width} × ${BYTES}` } },
  ],
  impossible: ({ width = 0, heads = 1, kv_heads = 1 }) =>
    width % heads ? "not_divided" : heads % kv_heads ? "not_grouped" : null,
};

/** A whole number as a reader types it, its thousands apart or not; null if it is none. */
export function parseCount(text: string): number | null {
  const plain = text.trim();
  if (/^\d+$/.test(plain)) return Number(plain);
  return /^\d{1,3}([.,\s]\d{3})+$/.test(plain) ? Number(plain.replace(/\D/g, "")) : null;
}
