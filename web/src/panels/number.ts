// How does a value computed in the page read? Exactly as engine/number.py would print it: rounded once
// as its shortest decimal form shows it, a half away from zero, in the page's language. What is not zero
// is never shown as zero (in Python that is an error unless below=True; here it always reads "< 0,001").

export type Language = "pt" | "en";

export interface Format {
  /** Exactly one of these five. */
  decimals?: number;
  digits?: number;
  percent?: number;
  scientific?: number;
  integer?: true;
  grouped?: boolean;
  signed?: boolean;
  /** What is not larger than this is shown as zero. */
  noise?: number;
}

/** count · 10^power, exactly; the sign stands apart. */
interface Decimal {
  count: bigint;
  power: number;
}

/** How numbers of matrices are shown: three decimals; rounding noise is zero. */
export const SHOWN: Format = { decimals: 3, noise: 1e-12 };

const NBSP = "\u00a0";
const MINUS = "\u2212";
const GROUPED_FROM = 5; // digits of the integer part
const [PLAIN_FROM, PLAIN_BELOW] = [-4, 15]; // powers of ten between which digits= is written out
const MARKS = { pt: { point: ",", group: "." }, en: { point: ".", group: "," } };

export function formatNumber(value: number, language: Language, format: Format): string {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) {
    const [infinity, minus] = language === "pt" ? ["infinito", "menos"] : ["infinity", "minus"];
    return value < 0 ? `${minus} ${infinity}` : infinity;
  }
  const zero = Math.abs(value) <= (format.noise ?? 0);
  const exact = zero ? { count: 0n, power: 0 } : decimal(value);
  if (format.percent !== undefined) exact.power += 2;
  const [shown, power] = rounded(exact, format);
  const tail = format.percent !== undefined ? "%" : "";
  const sign = exact.count === 0n ? "" : value < 0 ? MINUS : format.signed ? "+" : "";
  if (shown.count === 0n && exact.count !== 0n) {
    const bound = written({ count: 1n, power: shown.power }, language, format.grouped ?? true);
    return `${value < 0 ? ">" : "<"}${NBSP}${sign}${bound}${tail}`;
  }
  const tens = power === 0 ? "" : `${NBSP}×${NBSP}10${superscript(power)}`;
  return sign + written(shown, language, format.grouped ?? true) + tens + tail;
}

/** Every digit that a value has, with the language's decimal mark: what an input shows. */
export function writeExactly(value: number, language: Language): string {
  const exact = decimal(value);
  const places = Math.max(0, -exact.power);
  const sign = value < 0 ? MINUS : "";
  return sign + written(quantize(exact, -places), language, false);
}

/** What a reader typed, with a comma or a point; null if it is no number. */
export function parseNumber(text: string): number | null {
  const plain = text.replace(/\s/g, "").replace(MINUS, "-").replace(",", ".");
  return /^[+-]?(\d+\.?\d*|\.\d+)$/.test(plain) ? Number(plain) : null;
}

/** A list in prose: [−0,5; 1,5] in Portuguese, [−0.5, 1.5] in English. */
export function formatList(values: readonly number[], language: Language, format: Format): string {
  const texts = values.map((value) => formatNumber(value, language, format));
  return `[${texts.join(language === "pt" ? "; " : ", ")}]`;
}

/** The number that JavaScript (and Python) prints for |value|, exactly. */
function decimal(value: number): Decimal {
  const parts = /^(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(String(Math.abs(value)));
  if (!parts) throw new RangeError(`not a finite number: ${value}`);
  const [, whole = "", part = "", tens = "0"] = parts;
  return { count: BigInt(whole + part), power: Number(tens) - part.length };
}

function adjusted({ count, power }: Decimal): number {
  return count === 0n ? power : String(count).length - 1 + power;
}

/** Rounded to whole multiples of 10^power, a half away from zero. */
function quantize(exact: Decimal, power: number): Decimal {
  const by = power - exact.power;
  if (by <= 0) return { count: exact.count * 10n ** BigInt(-by), power };
  const step = 10n ** BigInt(by);
  return { count: (2n * exact.count + step) / (2n * step), power };
}

/** To `digits` significant digits; 9.996 to three is 10.0, not 10.00. */
function significant(exact: Decimal, digits: number): Decimal {
  const shown = quantize(exact, adjusted(exact) - digits + 1);
  return adjusted(shown) > adjusted(exact) ? quantize(exact, adjusted(shown) - digits + 1) : shown;
}

/** The digits to show and the power of ten written beside them (0: none). */
function rounded(exact: Decimal, format: Format): [Decimal, number] {
  const places = format.decimals ?? format.percent;
  if (places !== undefined) return [quantize(exact, -places), 0];
  const digits = format.digits ?? format.scientific;
  if (digits === undefined) return [quantize(exact, 0), 0];
  if (exact.count === 0n) return [{ count: 0n, power: 0 }, 0];
  const shown = significant(exact, digits);
  const power = adjusted(shown);
  if (format.digits !== undefined && PLAIN_FROM <= power && power < PLAIN_BELOW) return [shown, 0];
  return [{ count: shown.count, power: shown.power - power }, power];
}

function written({ count, power }: Decimal, language: Language, grouped: boolean): string {
  const { point, group } = MARKS[language];
  const places = Math.max(0, -power);
  const text = String(power > 0 ? count * 10n ** BigInt(power) : count).padStart(places + 1, "0");
  let whole = places ? text.slice(0, -places) : text;
  if (grouped && whole.length >= GROUPED_FROM) whole = whole.replace(/\B(?=(\d{3})+$)/g, group);
  return whole + (places ? point + text.slice(-places) : "");
}

function superscript(power: number): string {
  return String(power).replace(/[-\d]/g, (sign) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(sign)] ?? "");
}
