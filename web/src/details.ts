// What does the book say about one number? The facts that engine/details.py wrote into the page,
// as the HTML of the pop-over, in the page's language.

export interface Seed {
  seed: number | null;
  value: unknown;
  text: string;
}

export interface End {
  value: number;
  text: string;
}

export interface Details {
  text: string;
  spread: string | null;
  what: string;
  experiment: string;
  paths: string[];
  seeds: Seed[];
  low: End | null;
  high: End | null;
  device: string;
  date: string;
  duration: string;
  digest: string[];
  command: string[];
  record_url: string[];
  source_url: string[];
  unit: string;
  stale: boolean;
  machine_dependent: boolean;
}

const WORDS = {
  pt: {
    experiment: "Experimento",
      seeds: "Sementes",
    none: "nenhuma: sempre o mesmo valor",
    machine: "Máquina",
    date: "Medido em",
    took: "em",
    again: "Medir de novo",
    copy: "copiar",
    copied: "copiado",
    record: "registro",
    source: "código",
    stale: "Desatualizado: o código ou a configuração mudou depois desta medida.",
    machineOnly: "Vale para esta máquina.",
    strip: "Um ponto por semente",
    others: "Números desta fórmula",
  },
  en: {
    experiment: "Experiment",
    seeds: "Seeds",
    none: "none: always the same value",
    machine: "Machine",
    date: "Measured",
    took: "in",
    again: "Measure again",
    copy: "copy",
    copied: "copied",
    record: "record",
    source: "source",
    stale: "Out of date: code or settings have changed since this was measured.",
    machineOnly: "Holds for this machine.",
    strip: "One dot per seed",
    others: "Numbers of this formula",
  },
};

export function words(): (typeof WORDS)["en"] {
  return document.documentElement.lang.startsWith("pt") ? WORDS.pt : WORDS.en;
}

export function escape(text: string): string {
  return text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
}

/** The value without its spread, which is shown smaller. */
export function bare(details: Details): string {
  return details.spread === null ? details.text : details.text.replace(/\s*±.*$/, "");
}

/** A dotted path or a file name may break after a dot, an underscore or a slash. */
function breakable(text: string): string {
  return escape(text).replace(/([._/])(?=.)/g, "$1<wbr>");
}

function finite(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value);
}

/** The ruler: one dot per seed, a tick at the mean. */
function strip({ seeds, low, high }: Details): string {
  const values = seeds.map((seed) => seed.value).filter(finite);
  if (low === null || high === null || values.length < 2 || high.value <= low.value) return "";
  const [left, width] = [4, 248];
  const x = (v: number) => (left + ((v - low.value) / (high.value - low.value)) * width).toFixed(1);
  const mean = values.reduce((a, b) => a + b, 0) / values.length;
  const ticks = Array.from({ length: 11 }, (_, i) => `M${(left + i * 24.8).toFixed(1)} 24v${i % 5 ? 3 : 6}`);
  const dots = values.map(
    (v) =>
      `<circle cx="${x(v)}" cy="14" r="4.5" fill="var(--measured)" fill-opacity=".55" stroke="var(--measured)"/>`,
  );
  return (
    `<svg viewBox="0 0 256 44" role="img" aria-label="${words().strip}">` +
    `<path d="M${left} 24.5H${left + width}${ticks.join("")}" stroke="var(--edge)" fill="none"/>${dots.join("")}` +
    `<path d="M${x(mean)} 3V24" stroke="var(--ink)" stroke-width="1.5"/>` +
    `<text x="0" y="42">${escape(low.text)}</text><text x="256" y="42" text-anchor="end">${escape(high.text)}</text></svg>`
  );
}

function seedsInWords({ seeds }: Details): string {
  if (seeds.every((seed) => seed.seed === null)) return words().none;
  return seeds.map((s) => `<span class="nbox__seed"><i>${s.seed}</i> ${escape(s.text)}</span>`).join(" ");
}

/** One command for all runs: `python -m experiments run a/b.s0 a/b.s1`. */
export function command(commands: string[]): string {
  const [first = "", ...rest] = commands;
  const stem = first.slice(0, first.lastIndexOf(" ") + 1);
  return rest.every((c) => c.startsWith(stem))
    ? [first, ...rest.map((c) => c.slice(stem.length))].join(" ")
    : commands.join("; ");
}

/** A command breaks between its words, and only there. */
function wrapped(text: string): string {
  return text
    .split(" ")
    .map((word) => `<span>${escape(word)}</span>`)
    .join(" ");
}

/** Records of one row are told apart by their seed alone: mean.s0, mean.s1 become s0, s1. */
function short(names: string[]): string[] {
  const row = (name: string) => name.slice(0, name.lastIndexOf(".") + 1);
  const first = row(names[0] ?? "");
  return names.every((name) => row(name) === first) ? names.map((name) => name.slice(first.length)) : names;
}

function links(urls: string[], word: string): string {
  const names = urls.map((url) => url.split("/").pop()?.replace(/\.json$/, "") ?? url);
  const [only] = urls;
  if (only === undefined) return "";
  if (urls.length === 1) return `<span><a href="${escape(only)}">${word}</a></span>`;
  const shown = short(names);
  const each = urls.map((url, i) => `<a href="${escape(url)}" title="${escape(names[i] ?? "")}">${escape(shown[i] ?? "")}</a>`);
  return `<span>${word} ${each.join(" ")}</span>`;
}

export function html(details: Details): string {
  const w = words();
  const again = command(details.command);
  const digests = [...new Set(details.digest)];
  const facts: [string, string][] = [
    [w.experiment, escape(details.experiment)],
    [w.seeds, seedsInWords(details)],
    [w.machine, escape(details.device) + (details.machine_dependent ? ` ${w.machineOnly}` : "")],
    [
      w.date,
      escape(details.date) +
        (details.duration ? `, ${w.took} ${escape(details.duration.replace(/ /g, "\u00a0"))}` : ""),
    ],
    [
      "Digest",
      digests
        .map((digest) => `<code title="${escape(digest)}">${escape(digest.replace(/^sha256:/, "").slice(0, 12))}</code>`)
        .join(" "),
    ],
  ];
  const rows = facts.filter(([, fact]) => fact !== "").map(([name, fact]) => `<dt>${name}</dt><dd>${fact}</dd>`);
  const paths = details.paths.filter((path) => path !== details.what).map((path) => `<code>${breakable(path)}</code>`);
  return (
    `<div class="nbox__v">${escape(bare(details))}${details.spread ? ` <small>${escape(details.spread)}</small>` : ""}</div>` +
    `<p class="nbox__what">${details.paths.includes(details.what) ? `<code>${breakable(details.what)}</code>` : escape(details.what)}</p>` +
    (paths.length ? `<p class="nbox__path">${paths.join(" ")}</p>` : "") +
    (details.stale ? `<p class="nbox__stale">${w.stale}</p>` : "") +
    strip(details) +
    `<dl>${rows.join("")}</dl>` +
    (again
      ? `<div class="nbox__cmd"><div>${w.again} <button type="button" data-copy="${escape(again)}">${w.copy}</button></div><code tabindex="0">${wrapped(again)}</code></div>`
      : "") +
    `<nav>${links(details.record_url, w.record)}${links(details.source_url, w.source)}</nav>`
  );
}
