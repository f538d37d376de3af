// The block of chapter 17 in small, line by line: every number can be changed, every line shows its
// arithmetic for the token that the reader follows, and three cases ask before they show.
import type { ComponentChildren } from "preact";
import { useEffect, useId, useMemo, useRef, useState } from "preact/hooks";
import { Arithmetic } from "./block-arithmetic";
import { type Calculation, calculate, type Matrix, STAGES, type Stage, type Weight } from "./block";
import { changed, equal, fromHash, type Grid, gridOf, LARGEST, type State, toHash } from "./block-state";
import { Copy, Foot, Live, Scroll, usePanel, useWords } from "./frame";
import { formatList, formatNumber, type Language, parseNumber, SHOWN, writeExactly } from "./number";

const CASES = ["row_times_ten", "last_changed", "attention_removed"] as const;
type Case = (typeof CASES)[number];

interface Data {
  tokens: string[];
  x: Matrix;
  weights: Record<Weight, Matrix>;
  eps: number;
  /** The second row of X in the first case and the last one in the second. */
  times: number[];
  last: number[];
  /** The output as PyTorch computed it, by state. */
  y: Record<"default" | Case, Matrix>;
}

// What a case shows when it is applied: the token to follow and the lines to open.
const SHOWS: Record<Case, { token: number; open: Stage[] }> = {
  row_times_ten: { token: 1, open: ["u", "h", "y"] },
  last_changed: { token: 2, open: ["y"] },
  attention_removed: { token: 2, open: ["a", "y"] },
};
const USED: Partial<Record<Stage, Weight>> = { q: "w_q", k: "w_k", v: "w_v", a: "w_o", expanded: "w_1", m: "w_2" };
const UNUSED: readonly Stage[] = ["q", "k", "v", "scores", "weights"]; // where attention is off
const MASKED: readonly Stage[] = ["scores", "weights"];

function statesOf(data: Data): Record<"default" | Case, State> {
  const initial: State = { x: data.x, weights: data.weights, attention: true };
  const replaced = (at: number, row: number[]) => ({ ...initial, x: data.x.map((old, i) => (i === at ? row : old)) });
  return {
    default: initial,
    row_times_ten: replaced(1, data.times),
    last_changed: replaced(data.x.length - 1, data.last),
    attention_removed: { ...initial, attention: false },
  };
}

function difference(a: Matrix, b: Matrix): number {
  return Math.max(...a.flatMap((row, i) => row.map((value, j) => Math.abs(value - (b[i]?.[j] ?? NaN)))));
}

export function BlockPanel() {
  const { data, anchor, language, text } = usePanel<Data>();
  const words = useWords();
  const states = useMemo(() => statesOf(data), [data]);
  const usual = data.tokens.length - 1;
  const kept = () => fromHash(location.hash, anchor, states.default, usual);
  const [state, setState] = useState(() => kept()?.state ?? states.default);
  const [token, follow] = useState(() => kept()?.token ?? usual);
  const [version, setVersion] = useState(0); // where it changes, what was typed is forgotten
  const [open, setOpen] = useState<readonly Stage[]>(["x"]);
  const [asked, setAsked] = useState<Case | null>(null);
  const [answered, setAnswered] = useState(false);
  const [note, setNote] = useState("");
  const root = useRef<HTMLDivElement>(null);

  const now = useMemo(() => calculate({ ...state, eps: data.eps }), [state, data]);
  const before = useMemo(() => calculate({ ...states.default, eps: data.eps }), [states, data]);
  const recorded = (["default", ...CASES] as const).find((name) => equal(states[name], state));
  const link = toHash(anchor, state, token, states.default, usual);
  const all = open.length === STAGES.length;

  function set(next: State): void {
    setState(next);
    setVersion((old) => old + 1);
    setNote("");
  }

  function edit(grid: Grid, i: number, j: number, value: number): void {
    setState((old) => changed(old, grid, i, j, value));
    setNote("");
  }

  function ask(name: Case | null): void {
    setAsked(name);
    setAnswered(false);
  }

  function apply(name: Case): void {
    set(states[name]);
    follow(SHOWS[name].token);
    setOpen(SHOWS[name].open);
    setAnswered(true);
  }

  function toggle(stage: Stage): void {
    setOpen(open.includes(stage) ? open.filter((one) => one !== stage) : [...open, stage]);
  }

  /** Close all lines but this one, and go there. */
  function step(to: Stage): void {
    setOpen([to]);
    requestAnimationFrame(() => root.current?.querySelector<HTMLElement>(`[data-stage="${to}"] button`)?.focus());
  }

  useEffect(() => {
    const show = () => root.current?.closest(".panel")?.scrollIntoView();
    const restore = () => {
      const found = kept();
      if (!found) return;
      set(found.state);
      follow(found.token);
      show();
    };
    if (location.hash.startsWith(`#${anchor}&`)) show(); // the browser finds no such element
    addEventListener("hashchange", restore);
    return () => removeEventListener("hashchange", restore);
  }, []);

  const moved = data.tokens.filter((_, i) => difference([now.y[i] ?? []], [before.y[i] ?? []]) > 0);
  const still = data.tokens.filter((name) => !moved.includes(name));
  const said = [
    note,
    recorded === "default" ? words("initial") : "",
    moved.length ? words("changed", { names: moved.join(", ") }) : "",
    moved.length && still.length ? words("same", { names: still.join(", ") }) : "",
    words("output", { token: data.tokens[token] ?? "", vector: formatList(now.y[token] ?? [], language, SHOWN) }),
  ];

  return (
    <>
      <div class="block" ref={root}>
        <div class="block__bar" role="group" aria-label={words("cases")}>
          {CASES.map((name) => (
            <button
              key={name}
              type="button"
              class="block__case"
              aria-pressed={asked === name}
              onClick={() => ask(asked === name ? null : name)}
            >
              {text(`${name}.name`)}
            </button>
          ))}
          <button
            type="button"
            class="block__case"
            onClick={() => {
              set(states.default);
              ask(null);
            }}
          >
            {words("reset")}
          </button>
        </div>
        {asked && <Question key={asked} name={asked} answered={answered} apply={() => apply(asked)} />}
        <div class="block__bar">
          <fieldset class="block__follow">
            <legend>{words("follow")}</legend>
            {data.tokens.map((name, i) => (
              <label key={name}>
                <input type="radio" name={`${anchor}-token`} checked={i === token} onChange={() => follow(i)} />
                {name}
              </label>
            ))}
          </fieldset>
          <label>
            <input
              type="checkbox"
              checked={state.attention}
              onChange={(event) => set({ ...state, attention: event.currentTarget.checked })}
            />
            {words("attention")}
          </label>
          <button type="button" onClick={() => setOpen(all ? [] : STAGES)}>
            {words(all ? "close_all" : "open_all")}
          </button>
        </div>
        <ol class="block__lines" aria-label={words("lines")}>
          {STAGES.map((stage) => {
            const used = USED[stage];
            return (
              <Line
                key={stage}
                stage={stage}
                row={now[stage][token] ?? []}
                token={token}
                off={!state.attention && UNUSED.includes(stage)}
                zero={!state.attention && stage === "a"}
                open={open.includes(stage)}
                toggle={() => toggle(stage)}
                step={step}
              >
                <Rows
                  stage={stage}
                  now={now}
                  before={recorded === "default" ? null : before}
                  token={token}
                  version={version}
                  edit={edit}
                />
                {used && <WeightGrid key={version} name={used} matrix={gridOf(state, used)} edit={edit} />}
                <Arithmetic stage={stage} now={now} state={state} token={token} />
                {stage === "y" && recorded && <Recorded state={recorded} now={now} />}
              </Line>
            );
          })}
        </ol>
      </div>
      <Foot legend={words("legend")} said={said.filter(Boolean).join(" ")}>
        <a
          href={link}
          onClick={(event) => {
            if (event.ctrlKey || event.metaKey || event.shiftKey) return;
            event.preventDefault();
            event.stopPropagation(); // the theme would fetch the page and draw it anew
            history.replaceState(history.state, "", link);
            const copied = navigator.clipboard?.writeText(location.href);
            void copied?.then(() => setNote(words("copied"))).catch(() => {});
          }}
        >
          {words("link")}
        </a>
      </Foot>
    </>
  );
}

/** A case asks first; what happened is said once it was applied, and read from there. */
function Question({ name, answered, apply }: { name: Case; answered: boolean; apply: () => void }) {
  const { part } = usePanel();
  const words = useWords();
  const told = useRef<HTMLParagraphElement>(null);
  useEffect(() => {
    if (answered) told.current?.focus();
  }, [answered]);
  return (
    <div class="block__ask">
      <p>
        <b>{words("before")}.</b> <Copy html={part(`${name}.question`)} />
      </p>
      {answered ? (
        <p ref={told} tabIndex={-1}>
          <b>{words("after")}.</b> <Copy html={part(`${name}.answer`)} />
        </p>
      ) : (
        <button type="button" onClick={apply}>
          {words("apply")}
        </button>
      )}
    </div>
  );
}

interface LineProps {
  stage: Stage;
  row: readonly number[];
  token: number;
  off: boolean;
  zero: boolean;
  open: boolean;
  toggle: () => void;
  step: (to: Stage) => void;
  children: ComponentChildren;
}

/** One line: what it is called, the followed token's numbers, and, unfolded, everything about it. */
function Line({ stage, row, token, off, zero, open, toggle, step, children }: LineProps) {
  const { anchor, part, text } = usePanel();
  const words = useWords();
  const id = `${anchor}-${useId()}`;
  const at = STAGES.indexOf(stage);
  const [previous, next] = [STAGES[at - 1], STAGES[at + 1]];
  const note = part(`${stage}.note`);
  return (
    <li class={`block__line${off ? " off" : ""}`} data-stage={stage}>
      <button type="button" class="block__head" aria-expanded={open} aria-controls={id} onClick={toggle}>
        <span class="block__no" aria-hidden="true">
          {at + 1}
        </span>
        <span class="block__what">
          <Copy html={part(`${stage}.formula`)} /> <span class="block__name">{text(`${stage}.name`)}</span>
        </span>
      </button>
      <p class="block__row">
        <Vector row={visible(stage, row, token)} />
      </p>
      <div id={id} class="block__body" hidden={!open}>
        {open && (
          <>
            {off && <p class="block__hint">{words("off")}</p>}
            {zero && <p class="block__hint">{words("zero")}</p>}
            {note && <Copy class="block__note" html={note} />}
            {children}
            <p class="block__step">
              {previous && (
                <button type="button" onClick={() => step(previous)}>
                  {words("previous")}
                </button>
              )}
              <span>{words("at", { i: at + 1, n: STAGES.length })}</span>
              {next && (
                <button type="button" onClick={() => step(next)}>
                  {words("next")}
                </button>
              )}
            </p>
          </>
        )}
      </div>
    </li>
  );
}

function Vector({ row }: { row: readonly number[] }) {
  const { language } = usePanel();
  return <span class="live">{formatList(row, language, SHOWN)}</span>;
}

/** Without what the mask hides. */
function visible(stage: Stage, row: readonly number[], token: number): readonly number[] {
  return MASKED.includes(stage) ? row.slice(0, token + 1) : row;
}

interface RowsProps {
  stage: Stage;
  now: Calculation;
  /** The calculation at the initial values; null where this is it. */
  before: Calculation | null;
  token: number;
  version: number;
  edit: (grid: Grid, i: number, j: number, value: number) => void;
}

/** The rows of all tokens; those of X are where they are changed. */
function Rows({ stage, now, before, token, version, edit }: RowsProps) {
  const { data, language, text } = usePanel<Data>();
  const words = useWords();
  const [wrong, tell] = useWrong(version);
  const masked = MASKED.includes(stage);
  const matrix = now[stage];
  const heads = masked ? data.tokens : (matrix[0] ?? []).map((_, j) => String(j + 1));
  return (
    <>
      <Scroll>
        <table class={`block__m${heads.length > 4 ? " wide" : ""}`}>
          <caption>
            {`${text(`${stage}.name`)}, ${matrix.length} × ${heads.length}`}
          </caption>
          <thead>
            <tr>
              <td />
              {heads.map((head) => (
                <th key={head} scope="col">
                  {head}
                </th>
              ))}
              {before && <th scope="col">{words("change")}</th>}
            </tr>
          </thead>
          <tbody>
            {matrix.map((row, i) => (
              <tr key={i} class={i === token ? "followed" : ""}>
                <th scope="row">{data.tokens[i]}</th>
                {row.map((value, j) => (
                  <td key={j}>
                    {stage === "x" ? (
                      <NumberInput
                        key={version}
                        label={words("input", { token: data.tokens[i] ?? "", j: j + 1 })}
                        value={value}
                        set={(typed) => edit("x", i, j, typed)}
                        tell={tell}
                      />
                    ) : masked && j > i ? (
                      <span class="panel__heard">{words("hidden")}</span>
                    ) : (
                      <Live value={value} format={SHOWN} />
                    )}
                  </td>
                ))}
                {before && (
                  <td class="block__moved">
                    {moved(visible(stage, row, i), visible(stage, before[stage][i] ?? [], i), language)}
                  </td>
                )}
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
      {stage === "x" && <p class="block__hint">{words("edit")}</p>}
      <Wrong texts={wrong} />
    </>
  );
}

/** How far a row lies from what it was: exactly 0 only where nothing moved. */
function moved(now: readonly number[], before: readonly number[], language: Language): string {
  const far = difference([now], [before]);
  return far === 0 ? "0" : formatNumber(far, language, { decimals: 3 });
}

interface WeightGridProps {
  name: Weight;
  matrix: Matrix;
  edit: (grid: Grid, i: number, j: number, value: number) => void;
}

function WeightGrid({ name, matrix, edit }: WeightGridProps) {
  const words = useWords();
  const [wrong, tell] = useWrong(0);
  const columns = matrix[0]?.length ?? 0;
  return (
    <>
      <Scroll>
        <table class={`block__m${columns > 4 ? " wide" : ""}`}>
          <caption>
            <i>W</i>
            <sub>{name.slice(2).toUpperCase()}</sub>
            {`, ${matrix.length} × ${columns}`}
          </caption>
          <tbody>
            {matrix.map((row, i) => (
              <tr key={i}>
                {row.map((value, j) => (
                  <td key={j}>
                    <NumberInput
                      label={words("weight", { name: name.toUpperCase(), i: i + 1, j: j + 1 })}
                      value={value}
                      set={(typed) => edit(name, i, j, typed)}
                      tell={tell}
                    />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
      <Wrong texts={wrong} />
    </>
  );
}

type Tell = (label: string, text: string | null) => void;

/** What is wrong with the inputs of one grid, by input. */
function useWrong(version: number): [readonly string[], Tell] {
  const [wrong, setWrong] = useState<Record<string, string>>({});
  useEffect(() => setWrong({}), [version]);
  const tell: Tell = (label, text) =>
    setWrong(({ [label]: _, ...others }) => (text === null ? others : { ...others, [label]: text }));
  return [Object.values(wrong), tell];
}

function Wrong({ texts }: { texts: readonly string[] }) {
  return (
    <div role="alert" class="block__wrong">
      {texts.map((text) => (
        <p key={text}>{text}</p>
      ))}
    </div>
  );
}

interface NumberInputProps {
  label: string;
  value: number;
  set: (value: number) => void;
  tell: Tell;
}

/** A number with a comma or a point. While it cannot be read, the calculation keeps the last one. */
function NumberInput({ label, value, set, tell }: NumberInputProps) {
  const { language } = usePanel();
  const words = useWords();
  const [typed, setTyped] = useState<string | null>(null);
  const number = typed === null ? value : parseNumber(typed);
  const wrong = number === null || Math.abs(number) > LARGEST;
  return (
    <input
      type="text"
      inputMode="decimal"
      autoComplete="off"
      spellcheck={false}
      aria-label={label}
      aria-invalid={wrong}
      data-v={value}
      value={typed ?? writeExactly(value, language)}
      onInput={(event) => {
        const text = event.currentTarget.value;
        const read = parseNumber(text);
        setTyped(text);
        if (read !== null && Math.abs(read) <= LARGEST) {
          set(read);
          tell(label, null);
        }
      }}
      onBlur={() => {
        if (typed === null) return;
        if (wrong) tell(label, words("invalid", { label, text: typed, value: writeExactly(value, language) }));
        else setTyped(null);
      }}
    />
  );
}

/** The same output as the book recorded it, and how far the page's own is from it. */
function Recorded({ state, now }: { state: "default" | Case; now: Calculation }) {
  const { data, language, measured } = usePanel<Data>();
  const words = useWords();
  const far = difference(now.y, data.y[state]);
  return (
    <div class="block__recorded">
      <p>{words("pytorch")}</p>
      <dl>
        {data.tokens.map((name, i) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              <Copy html={measured(`${state}.${i}`)} />
            </dd>
          </div>
        ))}
      </dl>
      <p>
        {words("agrees", { difference: far === 0 ? "0" : formatNumber(far, language, { scientific: 1 }) })}
      </p>
    </div>
  );
}
