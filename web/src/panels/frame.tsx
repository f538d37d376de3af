// What all panels share: the words and values that the template wrote into the page, the ruler slider,
// numbers computed now beside numbers of the book, and the foot with what was said last.
import { type ComponentChildren, createContext } from "preact";
import { useContext, useEffect, useId, useRef, useState } from "preact/hooks";
import { type Format, formatNumber, type Language } from "./number";

/** One panel of a page: the element that templates/widgets/frame.j2 made, read. */
export interface Panel<Data> {
  anchor: string;
  language: Language;
  data: Data & { words: Record<string, string> };
  /** A text of the static part, as the HTML that stands there. */
  part(name: string): string;
  /** The same as plain text, for buttons. */
  text(name: string): string;
  /** A measured number of the static part, with the span that opens its origin; "" if there is none. */
  measured(name: string): string;
}

export function readPanel<Data>(element: HTMLElement): Panel<Data> {
  const find = (kind: string, name: string) => element.querySelector(`.panel__static [data-${kind}="${name}"]`);
  const template = element.querySelector<HTMLTemplateElement>("template.panel__data");
  return {
    anchor: element.id,
    language: document.documentElement.lang.startsWith("pt") ? "pt" : "en",
    data: JSON.parse(template?.content.textContent ?? "") as Panel<Data>["data"],
    part: (name) => find("part", name)?.innerHTML ?? "",
    text: (name) => find("part", name)?.textContent ?? "",
    measured: (name) => find("measured", name)?.innerHTML ?? "",
  };
}

export const PanelContext = createContext<Panel<unknown> | null>(null);

export function usePanel<Data>(): Panel<Data> {
  const panel = useContext(PanelContext);
  if (!panel) throw new Error("a panel is mounted by panels/main");
  return panel as Panel<Data>;
}

/** The panel's words by name, with `{gaps}` filled. */
export function useWords(): (name: string, gaps?: Record<string, string | number>) => string {
  const { data } = usePanel();
  return (name, gaps = {}) => {
    const text = data.words[name];
    if (text === undefined) throw new Error(`the panel has no words ${name}`);
    return text.replace(/\{(\w+)\}/g, (gap, key: string) => String(gaps[key] ?? gap));
  };
}

/** A text or a measured number copied from the static part. */
export function Copy({ html, ...rest }: { html: string; class?: string; id?: string }) {
  return <span {...rest} dangerouslySetInnerHTML={{ __html: html }} />;
}

/** A number computed now: grey, its full precision in `value`. */
export function Live({ value, format }: { value: number; format: Format }) {
  const { language } = usePanel();
  return (
    <data class="live" value={String(value)}>
      {formatNumber(value, language, format)}
    </data>
  );
}

/** A box that scrolls where what it holds is too wide, and that the keyboard reaches only then. */
export function Scroll({ children }: { children: ComponentChildren }) {
  const box = useRef<HTMLDivElement>(null);
  const [wide, setWide] = useState(false);
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const look = () => setWide(element.scrollWidth > element.clientWidth + 1);
    const watch = new ResizeObserver(look);
    for (const one of [element, ...element.children]) watch.observe(one);
    return () => watch.disconnect();
  }, []);
  return (
    <div class="tw" ref={box} tabIndex={wide ? 0 : undefined}>
      {children}
    </div>
  );
}

interface RulerProps {
  label: ComponentChildren;
  /** The values at the ticks, each as it reads; those of `strong` are in bold. */
  ticks: readonly string[];
  strong?: readonly string[];
  at: number;
  describe: (tick: string) => string;
  choose: (at: number) => void;
}

/** A slider over a ruler: one tick for each value that can be chosen. */
export function Ruler({ label, ticks, strong = [], at, describe, choose }: RulerProps) {
  const { anchor } = usePanel();
  const id = `${anchor}-${useId()}`;
  const tick = ticks[at] ?? "";
  return (
    <div class="ruler" style={`--steps:${ticks.length - 1}`}>
      <label for={id}>
        <span>{label}</span>
        <output for={id}>{tick}</output>
      </label>
      <input
        id={id}
        type="range"
        min={0}
        max={ticks.length - 1}
        step={1}
        value={at}
        aria-valuetext={describe(tick)}
        onInput={(event) => choose(Number(event.currentTarget.value))}
      />
      <div class="panel__ticks" />
      <div class="panel__scale" aria-hidden="true">
        {ticks.map((one) => (
          <span key={one} class={strong.includes(one) ? "strong" : ""}>
            {one}
          </span>
        ))}
      </div>
    </div>
  );
}

interface ComparisonProps {
  /** Heads: of each number computed now, then of what the book measured. */
  columns: readonly string[];
  /** What is heard where the book measured nothing. */
  nothing: string;
  groups: readonly {
    /** HTML, as `part` gives it. */
    name: string;
    predicted: string;
    format: Format;
    rows: readonly { name: string; key: string; now: readonly number[]; measured: string }[];
  }[];
}

/** Predicted, computed now, measured: quantities side by side, only the last with an origin to open. */
export function Comparison({ columns, nothing, groups }: ComparisonProps) {
  return (
    <table class="t compared">
      <thead>
        <tr>
          <td />
          {columns.map((column) => (
            <th key={column} scope="col">
              {column}
            </th>
          ))}
        </tr>
      </thead>
      {groups.map(({ name, predicted, format, rows }) => (
        <tbody key={name}>
          <tr class="compared__what">
            <th scope="rowgroup" colSpan={columns.length + 1}>
              <Copy html={name} />
              {predicted && <span class="live">{`, ${predicted}`}</span>}
            </th>
          </tr>
          {rows.map((row) => (
            <tr key={row.key} data-row={row.key}>
              <th scope="row">{row.name}</th>
              {row.now.map((value, i) => (
                <td key={i}>
                  <Live value={value} format={format} />
                </td>
              ))}
              <td>
                {row.measured ? (
                  <Copy html={row.measured} />
                ) : (
                  <>
                    <span aria-hidden="true">–</span>
                    <span class="panel__heard">{nothing}</span>
                  </>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      ))}
    </table>
  );
}

interface FootProps {
  legend: string;
  said: string;
  /** What is said stands on the page already: it is only to be heard. */
  quiet?: boolean;
  children?: ComponentChildren;
}

/** The foot: what the colours mean, what can be done, and a region that speaks what changed. */
export function Foot({ legend, said, quiet = false, children }: FootProps) {
  return (
    <div class="panel__f">
      <p>{legend}</p>
      <div class="panel__do">{children}</div>
      <p class={quiet ? "panel__heard" : "panel__said"} role="status">
        {useLater(said)}
      </p>
    </div>
  );
}

/** A text that has stood still for a moment: a slider that moves says only where it stops. */
function useLater(text: string, wait = 500): string {
  const [later, setLater] = useState("");
  useEffect(() => {
    const timer = setTimeout(() => setLater(text), wait);
    return () => clearTimeout(timer);
  }, [text, wait]);
  return later;
}
