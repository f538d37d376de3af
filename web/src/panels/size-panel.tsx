// A calculator of parameters: the reader gives the shape of a model, or takes one that was published, and
// sees every part with its formula filled in. What is asked and how it is counted is a Kind (sizes.ts).
import { Fragment } from "preact";
import { useMemo, useRef, useState } from "preact/hooks";
import { Copy, Foot, Live, Scroll, usePanel, useWords } from "./frame";
import { formatNumber } from "./number";
import { GPT2, type Kind, MODERN, parseCount, type Shape } from "./sizes";

interface Data {
  /** The shapes of published models, as the book counted them, by name. */
  presets: [string, Shape][];
  /** What each field is called, without its symbol. */
  fields: Record<string, string>;
}

const COUNT = { integer: true } as const;
type Typed = Readonly<Record<string, string>>;

export const Gpt2Size = () => <SizePanel kind={GPT2} />;
export const ModernSize = () => <SizePanel kind={MODERN} />;

/** Which field is wrong, and the name of the words that say so. */
interface Problem {
  field: string;
  said: string;
}

/** The shape that was typed, or what is wrong with it. */
function read(kind: Kind, typed: Typed): { shape: Shape } | { problem: Problem } {
  const shape: Record<string, number> = {};
  for (const [field, [low, high]] of Object.entries(kind.fields)) {
    const value = parseCount(typed[field] ?? "");
    if (value === null || value < low || value > high) return { problem: { field, said: "no_count" } };
    shape[field] = value;
  }
  const said = kind.impossible(shape);
  return said ? { problem: { field: said === "not_divided" ? "heads" : "kv_heads", said } } : { shape };
}

function SizePanel({ kind }: { kind: Kind }) {
  const { data, language, anchor, part, text, measured } = usePanel<Data>();
  const words = useWords();
  const count = (value: number) => formatNumber(value, language, COUNT);
  const typedOf = (shape: Shape): Typed =>
    Object.fromEntries(Object.keys(kind.fields).map((field) => [field, String(shape[field])]));
  const first = data.presets[0]?.[1] ?? {};
  const [typed, setTyped] = useState<Typed>(() => typedOf(first));
  const last = useRef<Shape>(first);
  const found = useMemo(() => read(kind, typed), [kind, typed]);
  if ("shape" in found) last.current = found.shape;
  const shape = last.current;
  const sizes = useMemo(() => kind.sizes(shape), [kind, shape]);
  const total = sizes.total ?? NaN;
  const preset = data.presets.find(([, one]) => Object.keys(kind.fields).every((f) => one[f] === shape[f]))?.[0];
  const numbers: Shape = {
    ...sizes,
    ...shape,
    count: shape.blocks ?? NaN,
    head_width: (shape.width ?? NaN) / (shape.heads ?? 1),
  };

  const wrong = "problem" in found ? found.problem : null;
  const [low, high] = kind.fields[wrong?.field ?? ""] ?? [0, 0];
  const problem =
    wrong &&
    `${words(wrong.said, {
      field: data.fields[wrong.field] ?? wrong.field,
      low: count(low),
      high: count(high),
      width: typed.width ?? "",
      heads: typed.heads ?? "",
      kv_heads: typed.kv_heads ?? "",
    })} ${words("meanwhile", { total: count(total) })}`;
  const said = problem ?? words(preset ? "said_preset" : "said", { name: preset ? text(preset) : "", total: count(total) });

  return (
    <>
      <div class="size">
        <div class="size__presets" role="group" aria-label={words("presets")}>
          {data.presets.map(([name, one]) => (
            <button
              key={name}
              type="button"
              class="size__preset"
              aria-pressed={!wrong && preset === name}
              onClick={() => setTyped(typedOf(one))}
            >
              {text(name)}
            </button>
          ))}
        </div>
        <div class="size__fields">
          {Object.keys(kind.fields).map((field) => (
            <div key={field}>
              <label for={`${anchor}-${field}`}>
                <Copy html={part(field)} />
              </label>
              <input
                id={`${anchor}-${field}`}
                name={field}
                inputMode="numeric"
                autoComplete="off"
                value={typed[field]}
                aria-invalid={wrong?.field === field}
                aria-describedby={`${anchor}-wrong`}
                onInput={(event) => setTyped({ ...typed, [field]: event.currentTarget.value })}
              />
            </div>
          ))}
        </div>
        <p id={`${anchor}-wrong`} class="size__wrong">
          {problem}
        </p>
        <Scroll>
          <table class="t size__t">
            <thead>
              <tr>
                <th scope="col">{words("part")}</th>
                <th scope="col">{words("here")}</th>
                <th scope="col">{words("share")}</th>
                <th scope="col">{words("in_book")}</th>
              </tr>
            </thead>
            {kind.lines.map(({ group, of }) => (
              <tbody key={group}>
                <tr class="size__group">
                  <th scope="rowgroup" colSpan={4}>
                    {words(group)}
                  </th>
                </tr>
                {Object.entries(of).map(([name, formula]) => {
                  const value = sizes[name] ?? NaN;
                  const whole = group === "one_block" ? sizes.block : group === "whole" ? total : undefined;
                  const book = preset ? measured(`${preset}.${name}`) : "";
                  return (
                    <Fragment key={name}>
                      <tr class={name === "total" || name === "block" ? "size__sum" : ""} data-line={name}>
                        <th scope="row">
                          <Copy html={part(`${name}.name`)} />
                        </th>
                        <td>
                          <Live value={value} format={COUNT} />
                        </td>
                        <td>{whole !== undefined && <Share of={value / whole} />}</td>
                        <td>
                          {book ? (
                            <Copy html={book} />
                          ) : (
                            <>
                              <span aria-hidden="true">–</span>
                              <span class="panel__heard">{words("nothing")}</span>
                            </>
                          )}
                        </td>
                      </tr>
                      <tr class="size__filled">
                        <td colSpan={4}>
                          <Copy html={part(`${name}.formula`)} />{" "}
                          <Filled formula={formula} numbers={numbers} write={count} />
                        </td>
                      </tr>
                    </Fragment>
                  );
                })}
              </tbody>
            ))}
          </table>
        </Scroll>
      </div>
      <Foot legend={words("legend")} said={said} quiet />
    </>
  );
}

/** A share of a whole, as a bar of its length and in figures. */
function Share({ of }: { of: number }) {
  return (
    <>
      <span class="size__bar" style={`--share:${of}`} aria-hidden="true" />
      <Live value={of} format={{ percent: 1 }} />
    </>
  );
}

/** A formula with its numbers in their places. */
function Filled({ formula, numbers, write }: { formula: string; numbers: Shape; write: (value: number) => string }) {
  return (
    <span class="live">
      {"= "}
      {formula.split(/(\{\w+\}|\^2)/).map((piece, i) => {
        if (piece === "^2") return <sup key={i}>2</sup>;
        const name = /^\{(\w+)\}$/.exec(piece)?.[1];
        return name === undefined ? piece : write(numbers[name] ?? NaN);
      })}
    </span>
  );
}
