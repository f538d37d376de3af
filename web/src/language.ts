// Which address has this page in the other language? Instant navigation leaves the header as it was,
// so the links are made anew whenever they might be used; page and anchor are kept.

const base = new URL(
  (JSON.parse(document.getElementById("__config")?.textContent || "{}") as { base?: string }).base ?? ".",
  location.href,
);
const root = base.href.replace(/\/?$/, "/");

export function setUpLanguages(): void {
  const update = () => {
    const here = location.href.split("#")[0] ?? "";
    if (!here.startsWith(root)) return; // the page that says that there is no such page
    const page = here.slice(root.length);
    for (const link of document.querySelectorAll<HTMLAnchorElement>(".bk-lang a[data-edition]"))
      link.href = new URL((link.dataset.edition ?? "") + page, root).href + location.hash;
  };
  for (const event of ["pointerdown", "pointerover", "focusin", "click"])
    document.addEventListener(
      event,
      (e) => {
        if (e.target instanceof Element && e.target.closest(".bk-lang")) update();
      },
      true,
    );
  update();
}
