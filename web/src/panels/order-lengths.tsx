// What becomes of each encoding of order in windows longer than those of training? The measured perplexities as
// lines; encodings and lengths are switched on and off, and the axis fits what is shown.
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { Copy, Foot, Live, Scroll, usePanel, useWords } from "./frame";
import { formatNumber } from "./number";

interface Data {
  encodings: string[];
  lengths: number[];
  /** Mean perplexity as the book recorded it, under "encoding.length.way". */
  perplexity: Record<string, number>;
}

const WAYS = ["whole", "last"] as const;
type Way = (typeof WAYS)[number];

const RESCALED = ["rope_interpolated", "rope_ntk"]; // off at the start
const CHANGE = { decimals: 2 };
const VALUE = { digits: 3 };

// As in the figure of the chapter: colour, dash and mark together tell the lines apart.
const STYLES: Record<string, { color: string; dash: string; mark: string; hollow?: true }> = {
  rope: { color: "c1", dash: "", mark: "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0Z" },
  learned: { color: "c2", dash: "8 4", mark: "M-3.5-3.5h7v7h-7Z" },
  sinusoidal: { color: "c3", dash: "3 3", mark: "M0-4.5L4.5 3.5h-9Z" },
  alibi: { color: "c4", dash: "12 3", mark: "M0-5L5 0L0 5L-5 0Z" },
  none: { color: "c5", dash: "2 6", mark: "M0 4.5L-4.5-3.5h9Z" },
  rope_interpolated: { color: "c1", dash: "8 3 2 3", mark: "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0Z", hollow: true },
  rope_ntk: { color: "c1", dash: "1 3", mark: "M-3.5-3.5h7v7h-7Z", hollow: true },
};

export function OrderLengths() {
  const { data, anchor, language, text } = usePanel<Data>();
  const words = useWords();
  const usual = data.encodings.filter((one) => !RESCALED.includes(one));
  const [on, setOn] = useState<readonly string[]>(usual);
  const [lengths, setLengths] = useState<readonly number[]>(data.lengths);
  const [way, setWay] = useState<Way>("whole");

  const at = (encoding: string, length: number) => data.perplexity[`${encoding}.${length}.${way}`] ?? NaN;
  const shown = data.encodings.filter((one) => on.includes(one));
  const across = data.lengths.filter((one) => lengths.includes(one));
  const longest = across[across.length - 1] ?? NaN;
  const ranked = [...shown].sort((a, b) => at(a, longest) - at(b, longest));
  const [best = "", worst = ""] = [ranked[0], ranked[ranked.length - 1]];
  const empty = shown.length === 0 || across.length === 0;
  const said = empty
    ? words("nothing")
    : words(shown.length > 1 ? "said" : "said_one", {
        length: longest,
        scored: text(way),
        best: text(`${best}.name`),
        low: formatNumber(at(best, longest), language, VALUE),
        worst: text(`${worst}.name`),
        high: formatNumber(at(worst, longest), language, VALUE),
      });

  function show(encodings: readonly string[]): void {
    setOn(encodings);
    setLengths(data.lengths);
    setWay("whole");
  }

  return (
    <>
      <div class="order">
        <div class="order__choices">
          <fieldset>
            <legend>{words("encodings")}</legend>
            {data.encodings.map((one) => (
              <label key={one}>
                <input type="checkbox" checked={on.includes(one)} onChange={() => setOn(switched(on, one))} />
                <Swatch encoding={one} />
                {text(`${one}.name`)}
              </label>
            ))}
          </fieldset>
          <fieldset>
            <legend>{words("lengths")}</legend>
            {data.lengths.map((one) => (
              <label key={one}>
                <input
                  type="checkbox"
                  checked={lengths.includes(one)}
                  onChange={() => setLengths(switched(lengths, one))}
                />
                {one}
              </label>
            ))}
          </fieldset>
          <fieldset>
            <legend>{words("scored")}</legend>
            {WAYS.map((one) => (
              <label key={one}>
                <input type="radio" name={`${anchor}-way`} checked={way === one} onChange={() => setWay(one)} />
                {text(one)}
              </label>
            ))}
          </fieldset>
        </div>
        {empty ? (
          <p>{words("nothing")}</p>
        ) : (
          <>
            <Lines encodings={shown} lengths={across} at={at} />
            <Values encodings={shown} lengths={across} way={way} at={at} />
          </>
        )}
      </div>
      <Foot legend={words("legend")} said={said} quiet={empty}>
        <button type="button" onClick={() => show(data.encodings)}>
          {words("all")}
        </button>
        <button type="button" onClick={() => show(usual)}>
          {words("reset")}
        </button>
      </Foot>
    </>
  );
}

function switched<T>(list: readonly T[], one: T): readonly T[] {
  return list.includes(one) ? list.filter((other) => other !== one) : [...list, one];
}

function Mark({ encoding, x, y }: { encoding: string; x: number; y: number }) {
  const { color, mark, hollow } = STYLES[encoding] ?? { color: "edge", mark: "" };
  return (
    <path
      d={mark}
      transform={`translate(${x} ${y})`}
      fill={hollow ? "var(--raised)" : `var(--${color})`}
      stroke={`var(--${color})`}
      stroke-width={hollow ? 1.75 : 0}
    />
  );
}

/** The piece of line and the mark by which an encoding is known in the chart. */
function Swatch({ encoding }: { encoding: string }) {
  const { color, dash } = STYLES[encoding] ?? { color: "edge", dash: "" };
  return (
    <svg class="order__swatch" viewBox="0 0 36 12" aria-hidden="true">
      <path d="M0 6H36" stroke={`var(--${color})`} stroke-width="2.25" stroke-dasharray={dash} />
      <Mark encoding={encoding} x={18} y={6} />
    </svg>
  );
}

interface Shown {
  encodings: readonly string[];
  lengths: readonly number[];
  at: (encoding: string, length: number) => number;
}

const LINE = 15; // pixels between two lines of labels
const LETTER = 6.9; // and of a letter in them, semibold, on average
const [TOP, FOOT, LEFT] = [26, 44, 34];

/** A chart as wide as its place, so that its letters keep their size. */
function Lines({ encodings, lengths, at }: Shown) {
  const { language, text } = usePanel<Data>();
  const words = useWords();
  const box = useRef<HTMLElement>(null);
  const [width, setWidth] = useState(560);
  // Before it is painted: the chart never shows at a width that is not its own.
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const fit = () => setWidth(Math.max(200, element.clientWidth));
    const watch = new ResizeObserver(fit);
    fit();
    watch.observe(element);
    return () => watch.disconnect();
  }, []);

  const names = encodings.map((one) => text(`${one}.name`));
  const narrow = width < 420;
  const height = narrow ? 260 : 300;
  const labels = names.map((name) => (narrow ? twoLines(name) : [name]));
  const right = width - 12 - Math.max(...labels.flat().map((line) => line.length)) * LETTER;
  const scale = logarithmic(encodings.flatMap((one) => lengths.map((n) => at(one, n))));
  const step = (right - LEFT - 18) / Math.max(1, lengths.length - 1);
  const x = (i: number) => (lengths.length === 1 ? (LEFT + right) / 2 : LEFT + 12 + i * step);
  const y = (value: number) => height - FOOT - scale.share(value) * (height - FOOT - TOP);
  const ends = apart(
    encodings.map((one) => y(at(one, lengths[lengths.length - 1] ?? NaN))),
    labels.map((label) => label.length * LINE),
    height - FOOT + LINE / 2,
  );
  return (
    <figure ref={box}>
      <svg viewBox={`0 0 ${width} ${height}`} role="img" aria-label={words("chart", { names: names.join(", ") })}>
        <text x={0} y={11}>
          {words("perplexity")}
        </text>
        {scale.ticks.map((tick) => (
          <g key={tick}>
            <path d={`M${LEFT} ${y(tick)}H${right}`} stroke="var(--rule)" />
            <text x={LEFT - 6} y={y(tick) + 4} text-anchor="end">
              {formatNumber(tick, language, { decimals: scale.decimals })}
            </text>
          </g>
        ))}
        <path d={`M${LEFT} ${height - FOOT}H${right}`} stroke="var(--ink-2)" />
        {lengths.map((length, i) => (
          <text key={length} x={x(i)} y={height - FOOT + 17} text-anchor="middle">
            {length}
          </text>
        ))}
        <text x={(LEFT + right) / 2} y={height - 6} text-anchor="middle">
          {words("axis")}
        </text>
        {encodings.map((one, line) => (
          <g key={one} data-line={one}>
            <path
              d={lengths.map((n, i) => `${i ? "L" : "M"}${x(i)} ${y(at(one, n))}`).join("")}
              fill="none"
              stroke={`var(--${STYLES[one]?.color ?? "edge"})`}
              stroke-width="2.25"
              stroke-dasharray={STYLES[one]?.dash}
            />
            {lengths.map((n, i) => (
              <Mark key={n} encoding={one} x={x(i)} y={y(at(one, n))} />
            ))}
            <text class="order__end" y={(ends[line] ?? NaN) - ((labels[line]?.length ?? 1) - 1) * (LINE / 2) + 4}>
              {labels[line]?.map((words, i) => (
                <tspan key={i} x={right + 10} dy={i ? LINE : 0}>
                  {words}
                </tspan>
              ))}
            </text>
          </g>
        ))}
      </svg>
    </figure>
  );
}

/** What is drawn, as the numbers of the book; the last column is computed here. */
function Values({ encodings, lengths, way, at }: Shown & { way: Way }) {
  const { measured, text } = usePanel<Data>();
  const words = useWords();
  const [first = NaN, last = NaN] = [lengths[0], lengths[lengths.length - 1]];
  const change = lengths.length > 1;
  return (
    <Scroll>
      <table class="t compared">
        <thead>
          <tr>
            <td />
            {lengths.map((length) => (
              <th key={length} scope="col">
                {length}
              </th>
            ))}
            {change && (
              <th scope="col">
                <span aria-hidden="true">{words("change", { first, last })}</span>
                <span class="panel__heard">{words("change_of", { first, last })}</span>
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {encodings.map((one) => (
            <tr key={one} data-row={one}>
              <th scope="row">{text(`${one}.name`)}</th>
              {lengths.map((length) => (
                <td key={length}>
                  <Copy html={measured(`${one}.${length}.${way}`)} />
                </td>
              ))}
              {change && (
                <td>
                  <Live value={at(one, last) / at(one, first)} format={CHANGE} />
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

interface Axis {
  share: (value: number) => number;
  ticks: number[];
  /** Of the ticks, as written. */
  decimals: number;
}

const FIRST_DIGITS = [1, 2, 3, 5, 7];

/** A logarithmic axis a little longer than its values: equal distances are equal ratios. */
function logarithmic(values: readonly number[]): Axis {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const room = Math.max(1.01, (most / least) ** 0.06);
  const [low, high] = [least / room, most * room];
  const share = (value: number) => Math.log(value / low) / Math.log(high / low);
  const power = Math.floor(Math.log10(low));
  const round = [0, 1, 2, 3, 4].flatMap((more) => FIRST_DIGITS.map((digit) => digit * 10 ** (power + more)));
  const ticks = round.filter((tick) => tick >= low && tick <= high);
  if (ticks.length >= 3)
    return { share, ticks: ticks.filter((_, i) => ticks.length <= 6 || i % 2 === 0), decimals: Math.max(0, -power) };
  const size = Math.floor(Math.log10((high - low) / 5));
  const step = [1, 2, 5, 10].map((digit) => digit * 10 ** size).find((one) => (high - low) / one <= 5) ?? high - low;
  const from = Math.ceil(low / step);
  const even = Array.from({ length: Math.floor(high / step) - from + 1 }, (_, i) => (from + i) * step);
  return { share, ticks: even, decimals: Math.max(0, -Math.floor(Math.log10(step) + 1e-9)) };
}

/** A long name in two lines, broken at the space nearest to its middle. */
function twoLines(name: string): string[] {
  const spaces = [...name].flatMap((letter, i) => (letter === " " ? [i] : []));
  const far = (i: number) => Math.abs(i - name.length / 2);
  const at = spaces.sort((a, b) => far(a) - far(b))[0];
  return at === undefined || name.length <= 8 ? [name] : [name.slice(0, at), name.slice(at + 1)];
}

/** Middles of labels near where they are wanted, none on another and none below the foot. */
function apart(wanted: readonly number[], heights: readonly number[], foot: number): number[] {
  const order = wanted.map((_, i) => i).sort((a, b) => (wanted[a] ?? 0) - (wanted[b] ?? 0));
  const placed = [...wanted];
  const half = (i: number) => (heights[i] ?? 0) / 2;
  let free = 0;
  for (const i of order) {
    placed[i] = Math.max(placed[i] ?? 0, free + half(i));
    free = (placed[i] ?? 0) + half(i);
  }
  let end = foot;
  for (const i of order.reverse()) {
    placed[i] = Math.min(placed[i] ?? 0, end - half(i));
    end = (placed[i] ?? 0) - half(i);
  }
  return placed;
}
