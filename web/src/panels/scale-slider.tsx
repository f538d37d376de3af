// What does the width do to a row of attention weights, with and without the division? One query and its
// keys are drawn component by component, so that every width sees the same draw and a wider one adds to it.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Comparison, Copy, Foot, Live, Ruler, usePanel, useWords } from "./frame";
import { formatNumber } from "./number";
import { normal } from "./random";
import { effectiveTokens, jacobianTrace, softmax, variance } from "./softmax";

interface Data {
  /** The widths that the book measured. */
  widths: number[];
  keys: number;
  /** The mean largest weight that the book measured, by width and way. */
  largest: Record<string, number>;
}

const SEED = 5;
const MANY = 100; // rows drawn by the second button
const AT_ONCE = 4; // of them, between two frames
const WAYS = ["undivided", "divided"] as const;
const FACTS = ["variance", "effective_tokens", "trace"] as const;
const DECIMALS = { variance: 2, effective_tokens: 1, trace: 3 };
type Way = (typeof WAYS)[number];
type Fact = (typeof FACTS)[number] | "max_weight";

interface Row {
  weights: number[];
  facts: Record<Fact, number>;
}

/** Rows drawn one after another: of each width and way the latest, and the sums of what was said of all. */
export class Draws {
  readonly widths: number[];
  rows = new Map<string, Row>();
  count = 0;
  private readonly next: () => number;
  private readonly sums = new Map<string, number>();

  constructor(
    seed: number,
    widths: readonly number[],
    private readonly keys: number,
  ) {
    this.widths = [...widths];
    this.next = normal(seed);
  }

  draw(): void {
    const { keys, next } = this;
    const scores = new Float64Array(keys);
    let done = 0;
    for (const width of this.widths) {
      for (; done < width; done++) {
        const q = next();
        for (let j = 0; j < keys; j++) scores[j] = (scores[j] ?? 0) + q * next();
      }
      this.keep(width, "undivided", scores);
      this.keep(width, "divided", scores.map((score) => score / Math.sqrt(width)));
    }
    this.count++;
  }

  private keep(width: number, way: Way, scores: Float64Array): void {
    const weights = softmax(scores);
    const facts = {
      variance: variance(scores),
      effective_tokens: effectiveTokens(weights),
      trace: jacobianTrace(weights),
      max_weight: Math.max(...weights),
    };
    this.rows.set(`${width}.${way}`, { weights, facts });
    for (const [fact, value] of Object.entries(facts)) {
      const key = `${width}.${way}.${fact}`;
      this.sums.set(key, (this.sums.get(key) ?? 0) + value);
    }
  }

  mean(width: number, way: Way, fact: Fact): number {
    return (this.sums.get(`${width}.${way}.${fact}`) ?? NaN) / this.count;
  }
}

function doublings(widths: readonly number[]): number[] {
  const [first, last] = [Math.min(...widths), Math.max(...widths)];
  const all = [first];
  for (let width = 2 * first; width <= last; width *= 2) all.push(width);
  return all;
}

export function ScaleSlider() {
  const { data, language } = usePanel<Data>();
  const words = useWords();
  const widths = useMemo(() => doublings(data.widths), [data]);
  const draws = useMemo(() => {
    const first = new Draws(SEED, widths, data.keys);
    first.draw();
    return first;
  }, [widths]);
  const [at, choose] = useState(widths.length >> 1);
  const [count, setCount] = useState(draws.count);
  const [busy, setBusy] = useState(false);
  const frame = useRef(0);
  useEffect(() => () => cancelAnimationFrame(frame.current), []);

  function drawMany(left: number): void {
    for (let i = 0; i < Math.min(left, AT_ONCE); i++) draws.draw();
    setCount(draws.count);
    setBusy(left > AT_ONCE);
    if (left > AT_ONCE) frame.current = requestAnimationFrame(() => drawMany(left - AT_ONCE));
  }

  const width = widths[at] ?? NaN;
  const rows = Object.fromEntries(WAYS.map((way) => [way, draws.rows.get(`${width}.${way}`)])) as Record<Way, Row>;
  const said = words("said", {
    width,
    undivided: formatNumber(rows.undivided.facts.effective_tokens, language, { decimals: 1 }),
    divided: formatNumber(rows.divided.facts.effective_tokens, language, { decimals: 1 }),
    rows: count,
  });
  return (
    <>
      <div class="scale">
        <Ruler
          label={<Copy html={usePanel().part("width")} />}
          ticks={widths.map(String)}
          strong={data.widths.map(String)}
          at={at}
          describe={(tick) => words("width_is", { width: tick })}
          choose={choose}
        />
        <div class="scale__rows">
          {WAYS.map((way) => (
            <Weights key={way} way={way} width={width} row={rows[way]} />
          ))}
        </div>
        <Facts width={width} rows={rows} draws={draws} />
      </div>
      <Foot legend={words("legend")} said={said} quiet>
        <button type="button" onClick={() => drawMany(1)} disabled={busy}>
          {words("again")}
        </button>
        <button type="button" onClick={() => drawMany(MANY)} disabled={busy}>
          {words("many", { n: MANY })}
        </button>
      </Foot>
    </>
  );
}

const BOX = { width: 300, height: 96, left: 22, right: 292, foot: 88 };

/** The weights of one row as bars from 0 to 1; at the right the bracket of the book's mean largest weight. */
function Weights({ way, width, row }: { way: Way; width: number; row: Row }) {
  const { data, language, measured } = usePanel<Data>();
  const words = useWords();
  const y = (weight: number) => BOX.foot - weight * (BOX.foot - 6);
  const step = (BOX.right - BOX.left) / row.weights.length;
  const book = data.largest[`${width}.${way}`];
  const largest = row.facts.max_weight;
  const title = words("bars", {
    n: row.weights.length,
    way: words(way),
    largest: formatNumber(largest, language, { decimals: 2 }),
  });
  return (
    <figure>
      <figcaption>
        <b>{words(way)}</b>
      </figcaption>
      <svg viewBox={`0 0 ${BOX.width} ${BOX.height}`} role="img" aria-label={title}>
        {[0, 0.5, 1].map((line) => (
          <g key={line}>
            <path d={`M${BOX.left} ${y(line)}H${BOX.right}`} stroke={line ? "var(--rule)" : "var(--edge)"} />
            <text x={BOX.left - 4} y={y(line) + 4} text-anchor="end">
              {formatNumber(line, language, line === 0.5 ? { decimals: 1 } : { integer: true })}
            </text>
          </g>
        ))}
        {row.weights.map((weight, i) => (
          <rect
            key={i}
            x={BOX.left + i * step + 0.4}
            y={y(weight)}
            width={step - 0.8}
            height={BOX.foot - y(weight)}
            fill="var(--edge)"
          />
        ))}
        {book !== undefined && (
          <path
            d={`M${BOX.right + 1} ${y(book)}h6V${BOX.foot}h-6`}
            stroke="var(--measured)"
            stroke-width="2"
            fill="none"
          />
        )}
      </svg>
      <p>
        {words("largest")} <Live value={largest} format={{ decimals: 2 }} />
        {book !== undefined && (
          <>
            {"; "}
            <span class="scale__book">
              {words("in_book")} <Copy html={measured(`${width}.${way}.max_weight`)} />
            </span>
          </>
        )}
      </p>
    </figure>
  );
}

/** What is said of the rows: predicted, of this row, the mean of those drawn here, and what the book measured. */
function Facts({ width, rows, draws }: { width: number; rows: Record<Way, Row>; draws: Draws }) {
  const { part, measured } = usePanel<Data>();
  const words = useWords();
  return (
    <Comparison
      columns={[words("this_row"), words(draws.count === 1 ? "mean_of_one" : "mean_of", { n: draws.count }), words("in_book")]}
      nothing={words("nothing")}
      groups={FACTS.map((fact) => ({
        name: part(fact),
        predicted: fact === "variance" ? words("predicted", { undivided: width, divided: 1 }) : "",
        format: { decimals: DECIMALS[fact] },
        rows: WAYS.map((way) => ({
          name: words(way),
          key: `${width}.${way}.${fact}`,
          now: [rows[way].facts[fact], draws.mean(width, way, fact)],
          measured: measured(`${width}.${way}.${fact}`),
        })),
      }))}
    />
  );
}
