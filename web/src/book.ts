// What does the book's own script do? It opens the origin of a number, keeps the page when the
// language changes, and lets the keyboard reach what scrolls. Without it every page is whole.
import { setUpExercises } from "./exercise";
import { setUpLanguages } from "./language";
import { setUpLedger } from "./ledger";
import { leavePage, setUpNumbers } from "./number";

declare global {
  /** Material's stream of pages: emits at the start and after each instant navigation. */
  var document$: { subscribe(page: () => void): void } | undefined;
}

const own = (document.currentScript as HTMLScriptElement | null)?.src ?? "";

/** The panels' script comes only with the first page that has one; without it their tables stay. */
async function setUpPanels(): Promise<void> {
  if (!document.querySelector("[data-panel]")) return;
  const panels = (await import(new URL("panels.js", own).href)) as typeof import("./panels/main");
  panels.setUpPanels();
}

function letKeyboardScroll(): void {
  for (const box of document.querySelectorAll<HTMLElement>(".tw, div.arithmatex, .highlight pre > code"))
    if (box.scrollWidth > box.clientWidth + 1 && !box.hasAttribute("tabindex")) box.tabIndex = 0;
}

setUpNumbers();
setUpLanguages();
setUpLedger();
setUpExercises();
letKeyboardScroll();
void setUpPanels();
globalThis.document$?.subscribe(() => {
  leavePage();
  letKeyboardScroll();
  void setUpPanels();
});
