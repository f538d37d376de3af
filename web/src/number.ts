// How does a reader see where a number comes from? Pointing (after a moment), focusing or tapping
// opens its pop-over: in the margin where there is one, below the number, on phones at the bottom.
// All handlers are delegated: they live through instant navigation.
import { type Details, bare, escape, html, words } from "./details";

type Way = "hover" | "focus" | "pinned";

const OPENS = ".num[data-n], [data-numbers]";
const HOVER_MS = 150;
const LEAVE_MS = 300;

const box = document.createElement("div");
box.className = "nbox";
box.id = "nbox";
box.popover = "auto";
box.setAttribute("role", "dialog");
box.tabIndex = -1;

let current: HTMLElement | null = null; // the number whose pop-over is open
let way: Way = "hover";
let timer = 0;
let pinnedOnPress: HTMLElement | null = null; // a press closes the pop-over before the click arrives
let quiet = false; // focus comes back from the pop-over: it must not open again

const known = new WeakMap<Element, Record<string, Details>>();

/** The details of the page's numbers; each page carries its own. */
function lookUp(key: string): Details | undefined {
  for (const element of document.querySelectorAll(".bk-numbers")) {
    let all = known.get(element);
    if (!all) {
      const text = element instanceof HTMLTemplateElement ? element.content.textContent : element.textContent;
      all = JSON.parse(text || "{}") as Record<string, Details>;
      known.set(element, all);
    }
    const details = all[key];
    if (details) return details;
  }
  return undefined;
}

function keysOf(target: HTMLElement): string[] {
  return (target.dataset.n ?? target.dataset.numbers ?? "").split(" ").filter(Boolean);
}

function fill(keys: string[], chosen: string): boolean {
  const details = lookUp(chosen);
  if (!details) return false;
  const others =
    keys.length > 1
      ? `<div class="nbox__others" role="group" aria-label="${words().others}">` +
        keys
          .map((key) => [key, lookUp(key)] as const)
          .map(([key, d]) => (d ? `<button type="button" data-key="${escape(key)}" aria-pressed="${key === chosen}">${escape(bare(d))}</button>` : ""))
          .join("") +
        "</div>"
      : "";
  box.innerHTML = `<div class="nbox__in">${others}${html(details)}</div>`;
  box.setAttribute("aria-label", `${details.text}: ${details.what}`);
  box.classList.toggle("nbox--stale", details.stale);
  return true;
}

function show(target: HTMLElement, how: Way): void {
  const keys = keysOf(target);
  const [first] = keys;
  if (first === undefined) return;
  if (current !== target) forget();
  if (!fill(keys, first)) return;
  current = target;
  way = how;
  // a formula is a box without a role: there the attribute may not stand
  if (target.getAttribute("role") === "button") target.setAttribute("aria-expanded", "true");
  if (!box.matches(":popover-open")) box.showPopover();
  place(target);
}

function forget(): void {
  current?.removeAttribute("aria-expanded");
  current = null;
}

function hide(): void {
  clearTimeout(timer);
  if (box.matches(":popover-open")) box.hidePopover();
}

function place(target: HTMLElement): void {
  const number = target.getBoundingClientRect();
  const rem = parseFloat(getComputedStyle(document.documentElement).fontSize);
  const content = target.closest(".md-content__inner");
  const header = document.querySelector(".md-header")?.getBoundingClientRect().bottom ?? 0;
  box.style.cssText = "";
  if (innerWidth < 768) {
    box.dataset.side = "sheet";
    const hidden = number.bottom + rem - (innerHeight - box.offsetHeight);
    if (hidden > 0) scrollBy({ top: Math.min(hidden, number.top - header - rem) });
    return;
  }
  const margin = content ? parseFloat(getComputedStyle(content).paddingRight) : 0;
  const textRight = content ? content.getBoundingClientRect().right - margin : 0;
  if (innerWidth >= 1220 && margin > 10 * rem && number.right <= textRight + 2) {
    box.dataset.side = "margin";
    const level = number.top + number.height / 2;
    const lowest = innerHeight - box.offsetHeight - 0.5 * rem;
    const top = Math.max(header + 0.4 * rem, Math.min(level - 0.8 * rem, lowest));
    box.style.left = `${textRight + 1.65 * rem + scrollX}px`;
    box.style.top = `${top + scrollY}px`;
    const tick = Math.max(0.2 * rem, Math.min(level - top, box.offsetHeight - 0.4 * rem));
    box.style.setProperty("--tick", `${tick}px`);
    return;
  }
  box.dataset.side = "below";
  const left = Math.max(0.8 * rem, Math.min(number.left, innerWidth - box.offsetWidth - 0.8 * rem));
  const below = number.bottom + 0.4 * rem;
  const above = number.top - box.offsetHeight - 0.4 * rem;
  const fits = below + box.offsetHeight <= innerHeight || above < header;
  box.style.left = `${left + scrollX}px`;
  box.style.top = `${(fits ? below : above) + scrollY}px`;
}

function closest(event: Event): HTMLElement | null {
  const target = event.target;
  return target instanceof Element ? target.closest<HTMLElement>(OPENS) : null;
}

export function setUpNumbers(): void {
  document.body.append(box);

  document.addEventListener("pointerover", (event) => {
    if (event.pointerType !== "mouse") return;
    const target = closest(event);
    if (target?.dataset.n) {
      if (target === current) clearTimeout(timer);
      else if (way !== "pinned" || !current) {
        clearTimeout(timer);
        timer = setTimeout(() => show(target, "hover"), HOVER_MS);
      }
    } else if (event.target instanceof Node && box.contains(event.target)) clearTimeout(timer);
    else if (current && way === "hover") {
      clearTimeout(timer);
      timer = setTimeout(hide, LEAVE_MS);
    } else clearTimeout(timer);
  });

  document.addEventListener(
    "pointerdown",
    (event) => {
      const target = closest(event);
      pinnedOnPress = target && target === current && way === "pinned" ? target : null;
    },
    true,
  );

  document.addEventListener("click", (event) => {
    if (!(event.target instanceof Element)) return;
    const copy = event.target.closest<HTMLButtonElement>(".nbox [data-copy]");
    if (copy) {
      void navigator.clipboard?.writeText(copy.dataset.copy ?? "").then(() => {
        copy.textContent = words().copied;
      });
      return;
    }
    const other = event.target.closest<HTMLElement>(".nbox [data-key]");
    if (other && current) {
      fill(keysOf(current), other.dataset.key ?? "");
      box.querySelector<HTMLElement>(`[data-key="${other.dataset.key}"]`)?.focus();
      return;
    }
    const target = closest(event);
    if (!target || getSelection()?.toString()) return;
    clearTimeout(timer);
    // After the browser's own closing of the pop-over, which a press outside of it brings about.
    if (target !== pinnedOnPress) setTimeout(() => show(target, "pinned"));
    pinnedOnPress = null;
  });

  document.addEventListener("focusin", (event) => {
    const target = closest(event);
    if (target && !quiet && target.matches(":focus-visible")) show(target, "focus");
    else if (way === "focus" && current && event.target instanceof Node && !box.contains(event.target) && !target) hide();
  });

  document.addEventListener("keydown", (event) => {
    const target = closest(event);
    if (target && event.target === target && (event.key === "Enter" || event.key === " ")) {
      event.preventDefault();
      show(target, "pinned");
      box.focus();
    }
    // Leaving the pop-over with Tab goes on after the number.
    if (event.key === "Tab" && current && box.contains(document.activeElement)) {
      const inside = [...box.querySelectorAll<HTMLElement>("a, button")];
      const edge = event.shiftKey ? inside[0] : inside.at(-1);
      if (document.activeElement === edge || (event.shiftKey && document.activeElement === box)) back();
    }
  });

  box.addEventListener("toggle", (event) => {
    if (event.newState === "closed" && current) {
      if (box.contains(document.activeElement) || document.activeElement === document.body) back();
      forget();
    }
  });
  // Escape closes before `toggle` is told: what had the focus must have it again.
  box.addEventListener("keydown", (event) => {
    if (event.key === "Escape") back();
  });

  addEventListener("resize", () => current && place(current));
}

/** The focus goes back to the number, without opening it again. */
function back(): void {
  if (!current?.isConnected) return;
  quiet = true;
  current.focus({ preventScroll: true });
  quiet = false;
}

/** A new page has taken the old one's place. */
export function leavePage(): void {
  hide();
  forget();
}
