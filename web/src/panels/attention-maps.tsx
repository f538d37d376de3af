// Where does each position look? The attention maps of chapter 11 by sentence, block and head, and, for the
// position that the reader follows, what one word of the sentence changes.
import type { ComponentChildren } from "preact";
import { useId, useState } from "preact/hooks";
import { Copy, Foot, Live, Scroll, usePanel, useWords } from "./frame";
import { formatNumber, type Format } from "./number";

const BLOCKS = ["one", "two_1", "two_2"] as const;
type Block = (typeof BLOCKS)[number];

interface Data {
  /** The sentences differ in this word alone. */
  adjectives: string[];
  /** Their words; at `places.adjective` each has its own. */
  tokens: string[];
  places: Record<"first" | "second" | "adjective", number>;
  /** By block and adjective: of each head the rows, without what the mask hides. */
  maps: Record<string, number[][][]>;
}

const LEAST = 0.01; // a weight below this carries no number
const STEPS = [0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.75]; // those of the figures
const PERCENT: Format = { percent: 1 };

export function AttentionMaps() {
  const { data, language } = usePanel<Data>();
  const words = useWords();
  const [adjective, setAdjective] = useState(data.adjectives[0] ?? "");
  const [block, setBlock] = useState<Block>("two_2");
  const [head, setHead] = useState(0);
  const [reader, setReader] = useState(data.tokens.length - 1);

  const heads = data.maps[`${block}.${adjective}`] ?? [];
  const sentence = data.tokens.map((word, i) => (i === data.places.adjective ? adjective : word));
  const row = heads[head]?.[reader] ?? [];
  const most = row.indexOf(Math.max(...row));
  const least = formatNumber(LEAST, language, { percent: 0 });
  const said = words("said", {
    block: words(block),
    head: head + 1,
    adjective,
    i: reader + 1,
    word: sentence[reader] ?? "",
    most: sentence[most] ?? "",
    weight: formatNumber(row[most] ?? NaN, language, PERCENT),
  });
  return (
    <>
      <div class="maps">
        <div class="maps__choices">
          <Choice legend={words("sentence")} at={adjective} choose={setAdjective} among={data.adjectives}>
            {(one) => words("with", { adjective: one })}
          </Choice>
          <Choice legend={words("block")} at={block} choose={setBlock} among={BLOCKS}>
            {(one) => words(one)}
          </Choice>
          <Choice legend={words("head")} at={head} choose={setHead} among={heads.map((_, i) => i)}>
            {(one) => one + 1}
          </Choice>
        </div>
        <Weights
          caption={words("map", { adjective, least })}
          rows={heads[head] ?? []}
          sentence={sentence}
          reader={reader}
          follow={setReader}
        />
        <Compared block={block} head={head} reader={reader} least={least} />
      </div>
      <Foot legend={words("legend")} said={said} quiet />
    </>
  );
}

interface ChoiceProps<T> {
  legend: string;
  at: T;
  among: readonly T[];
  choose: (one: T) => void;
  children: (one: T) => ComponentChildren;
}

/** One of a few, by mouse or by arrow keys. */
function Choice<T extends string | number>({ legend, at, among, choose, children }: ChoiceProps<T>) {
  const name = useId();
  return (
    <fieldset class="block__follow">
      <legend>{legend}</legend>
      {among.map((one) => (
        <label key={one}>
          <input type="radio" name={name} checked={one === at} onChange={() => choose(one)} />
          {children(one)}
        </label>
      ))}
    </fieldset>
  );
}

interface WeightsProps {
  caption: string;
  rows: readonly (readonly number[])[];
  sentence: readonly string[];
  reader: number;
  follow: (reader: number) => void;
}

/** The whole map; each row is named by a button that follows it. */
function Weights({ caption, rows, sentence, reader, follow }: WeightsProps) {
  const { language } = usePanel<Data>();
  const words = useWords();
  const name = useId();
  return (
    <Scroll>
      <table class="maps__m" role="group" aria-label={words("reader")}>
        <caption>{caption}</caption>
        <thead>
          <tr>
            <td />
            {sentence.map((word, j) => (
              <th key={j} scope="col">
                {word}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, i) => (
            <tr key={i} class={i === reader ? "followed" : ""}>
              <th scope="row">
                <label>
                  {sentence[i]}
                  <input
                    type="radio"
                    name={name}
                    aria-label={words("position", { i: i + 1, word: sentence[i] ?? "" })}
                    checked={i === reader}
                    onChange={() => follow(i)}
                  />
                </label>
              </th>
              {sentence.map((_, j) => {
                const weight = row[j];
                if (weight === undefined) return <td key={j} />;
                return (
                  <td key={j} class={`s${STEPS.filter((step) => weight >= step).length}`}>
                    <data value={String(weight)}>
                      {weight < LEAST ? "" : formatNumber(weight * 100, language, { decimals: 0 })}
                    </data>
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

interface ComparedProps {
  block: Block;
  head: number;
  reader: number;
  least: string;
}

/** The row that is followed, in both sentences: what it reads, and how much one word changes that. */
function Compared({ block, head, reader, least }: ComparedProps) {
  const { data, language, measured } = usePanel<Data>();
  const words = useWords();
  const { adjectives, tokens, places } = data;
  const rows = adjectives.map((adjective) => data.maps[`${block}.${adjective}`]?.[head]?.[reader] ?? []);
  const name = (j: number) => (j === places.adjective ? words("adjective") : (tokens[j] ?? ""));
  const reads = tokens.map((_, j) => j).filter((j) => rows.some((row) => (row[j] ?? 0) >= LEAST));
  const naming = reader === tokens.length - 1;
  const word = reader === places.adjective ? words("adjective") : (tokens[reader] ?? "");
  return (
    <div>
      <Scroll>
        <table class="t maps__c">
          <caption>{words("compared", { i: reader + 1, word })}</caption>
          <thead>
            <tr>
              <th scope="col">{words("word")}</th>
              {adjectives.map((adjective) => (
                <th key={adjective} scope="col">
                  {words("with", { adjective })}
                </th>
              ))}
              <th scope="col">{words("change")}</th>
            </tr>
          </thead>
          <tbody>
            {reads.map((j) => {
              const weights = rows.map((row) => row[j] ?? NaN);
              const [one = NaN, other = NaN] = weights;
              return (
                <tr key={j} data-read={j}>
                  <th scope="row">{name(j)}</th>
                  {adjectives.map((adjective, i) => {
                    const copy = naming ? measured(`${block}.${adjective}.${head}.${j}`) : "";
                    const weight = weights[i] ?? NaN;
                    return (
                      <td key={adjective}>
                        {copy ? (
                          <Copy html={copy} />
                        ) : (
                          <data value={String(weight)}>{formatNumber(weight, language, PERCENT)}</data>
                        )}
                      </td>
                    );
                  })}
                  <td>
                    <Live value={(other - one) * 100} format={{ decimals: 1, signed: true }} />
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </Scroll>
      {reads.length <= reader && <p class="panel__cap">{words("rest", { least })}</p>}
    </div>
  );
}
