// The arithmetic of one line for one token, filled in: what a reader with a pencil would write.
import type { ComponentChildren } from "preact";
import { type Calculation, column, type Matrix, moments, type Stage } from "./block";
import type { State } from "./block-state";
import { usePanel, useWords } from "./frame";
import { formatNumber, type Language, SHOWN, writeExactly } from "./number";

interface Props {
  stage: Stage;
  now: Calculation;
  state: State;
  token: number;
}

export function Arithmetic({ stage, now, state, token }: Props) {
  const write = useWriting();
  const at = (matrix: Matrix) => matrix[token] ?? [];
  const w = state.weights;
  switch (stage) {
    case "u":
      return <Normalized name="u" row={at(now.x)} result={at(now.u)} />;
    case "u2":
      return <Normalized name="u′" row={at(now.h)} result={at(now.u2)} />;
    case "q":
      return <Product name="q" row={at(now.u)} matrix={w.w_q} result={at(now.q)} />;
    case "k":
      return <Product name="k" row={at(now.u)} matrix={w.w_k} result={at(now.k)} />;
    case "v":
      return <Product name="v" row={at(now.u)} matrix={w.w_v} result={at(now.v)} />;
    case "scores":
      return <Scores now={now} token={token} />;
    case "weights":
      return <Weights now={now} token={token} />;
    case "a":
      return state.attention ? (
        <>
          <Mixture now={now} token={token} />
          <Product name="a" row={at(now.mixed)} matrix={w.w_o} result={at(now.a)} />
        </>
      ) : null;
    case "h":
      return <Sum name="h" one={at(now.x)} other={at(now.a)} result={at(now.h)} />;
    case "expanded":
      return <Product name="e" row={at(now.u2)} matrix={w.w_1} result={at(now.expanded)} />;
    case "m":
      return (
        <>
          <Lines>
            {at(now.expanded).map((value, i) => (
              <Line key={i} name={<i>g</i>} i={i}>
                gelu({write.plain(value)}) = {write.plain(at(now.bent)[i])}
              </Line>
            ))}
          </Lines>
          <Product name="m" row={at(now.bent)} matrix={w.w_2} result={at(now.m)} />
        </>
      );
    case "y":
      return <Sum name="y" one={at(now.h)} other={at(now.m)} result={at(now.y)} />;
    default:
      return null;
  }
}

/** Numbers as they stand in a sum: negative ones in brackets; what was typed, as it was typed. */
function useWriting() {
  const { language } = usePanel();
  const plain = (value: number | undefined) => formatNumber(value ?? NaN, language, SHOWN);
  const factor = (value: number | undefined) => bracketed(plain(value));
  const given = (value: number) => bracketed(typed(value, language));
  return { plain, factor, given };
}

function bracketed(text: string): string {
  return /^[−<>]/.test(text) ? `(${text})` : text;
}

/** A weight with all its digits, unless they are many. */
function typed(value: number, language: Language): string {
  const exact = writeExactly(value, language);
  return exact.length > 7 ? formatNumber(value, language, SHOWN) : exact;
}

function Lines({ children }: { children: ComponentChildren }) {
  return <ul class="sums">{children}</ul>;
}

function Line({ name, i, children }: { name: ComponentChildren; i?: number; children: ComponentChildren }) {
  return (
    <li>
      <span class="sums__name">
        {name}
        {i !== undefined && <sub>{i + 1}</sub>}
      </span>
      {" = "}
      <span>{children}</span>
    </li>
  );
}

/** Terms of a sum, which may break after a plus, and only there. */
function Terms({ terms }: { terms: readonly ComponentChildren[] }) {
  return terms.map((term, i) => (
    <>
      {i > 0 && " "}
      <span class="sums__term">
        {term}
        {i < terms.length - 1 && " +"}
      </span>
    </>
  ));
}

type Row = readonly number[];

function Product({ name, row, matrix, result }: { name: string; row: Row; matrix: Matrix; result: Row }) {
  const write = useWriting();
  return (
    <Lines>
      {result.map((value, j) => (
        <Line key={j} name={<i>{name}</i>} i={j}>
          <Terms terms={column(matrix, j).map((weight, i) => `${write.factor(row[i])} · ${write.given(weight)}`)} /> ={" "}
          <b>{write.plain(value)}</b>
        </Line>
      ))}
    </Lines>
  );
}

function Sum({ name, one, other, result }: { name: string; one: Row; other: Row; result: Row }) {
  const write = useWriting();
  return (
    <Lines>
      {result.map((value, j) => (
        <Line key={j} name={<i>{name}</i>} i={j}>
          {write.plain(one[j])} + {write.factor(other[j])} = <b>{write.plain(value)}</b>
        </Line>
      ))}
    </Lines>
  );
}

function Normalized({ name, row, result }: { name: string; row: Row; result: Row }) {
  const { data, language } = usePanel<{ eps: number }>();
  const words = useWords();
  const write = useWriting();
  const { mean, variance } = moments(row);
  const root = Math.sqrt(variance + data.eps);
  return (
    <Lines>
      <Line name={words("mean")}>
        (<Terms terms={row.map(write.factor)} />) / {row.length} = {write.plain(mean)}
      </Line>
      <Line name={words("variance")}>
        (
        <Terms
          terms={row.map((value) => (
            <>
              {write.factor(value - mean)}
              <sup>2</sup>
            </>
          ))}
        />
        ) / {row.length} = {write.plain(variance)}
      </Line>
      <Line name={words("deviation")}>
        ({write.plain(variance)} + {writeExactly(data.eps, language)})<sup>1/2</sup> = {write.plain(root)}
      </Line>
      {result.map((value, j) => (
        <Line key={j} name={<i>{name}</i>} i={j}>
          ({write.plain(row[j])} − {write.factor(mean)}) / {write.plain(root)} = <b>{write.plain(value)}</b>
        </Line>
      ))}
    </Lines>
  );
}

function Scores({ now, token }: { now: Calculation; token: number }) {
  const { data } = usePanel<{ tokens: string[] }>();
  const words = useWords();
  const write = useWriting();
  const query = now.q[token] ?? [];
  return (
    <Lines>
      {now.k.map((key, j) => (
        <Line key={j} name={<><i>s</i> ({data.tokens[j]})</>}>
          {j > token ? (
            words("hidden")
          ) : (
            <>
              (<Terms terms={query.map((value, i) => `${write.factor(value)} · ${write.factor(key[i])}`)} />) /{" "}
              {write.given(Math.sqrt(query.length))} = <b>{write.plain(now.scores[token]?.[j])}</b>
            </>
          )}
        </Line>
      ))}
    </Lines>
  );
}

function Weights({ now, token }: { now: Calculation; token: number }) {
  const { data } = usePanel<{ tokens: string[] }>();
  const write = useWriting();
  const scores = (now.scores[token] ?? []).slice(0, token + 1);
  const power = (score: number | undefined) => (
    <>
      <i>e</i>
      <sup>{write.plain(score)}</sup>
    </>
  );
  return (
    <Lines>
      {scores.map((score, j) => (
        <Line key={j} name={<><i>w</i> ({data.tokens[j]})</>}>
          {power(score)} / (<Terms terms={scores.map(power)} />) = <b>{write.plain(now.weights[token]?.[j])}</b>
        </Line>
      ))}
    </Lines>
  );
}

function Mixture({ now, token }: { now: Calculation; token: number }) {
  const words = useWords();
  const write = useWriting();
  const weights = (now.weights[token] ?? []).slice(0, token + 1);
  return (
    <Lines>
      {(now.mixed[token] ?? []).map((value, j) => (
        <Line key={j} name={words("mixture")} i={j}>
          <Terms terms={weights.map((weight, t) => `${write.factor(weight)} · ${write.factor(now.v[t]?.[j])}`)} /> ={" "}
          {write.plain(value)}
        </Line>
      ))}
    </Lines>
  );
}
