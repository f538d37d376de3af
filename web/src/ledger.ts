// Which rows of the ledger hold every word that the reader typed? Accents do not matter.

function fold(text: string): string {
  return text
    .normalize("NFD")
    .replace(/[\u0300-\u036f]/g, "")
    .toLowerCase();
}

export function setUpLedger(): void {
  document.addEventListener("input", (event) => {
    const input = event.target;
    if (!(input instanceof HTMLInputElement) || !input.matches("[data-ledger-filter]")) return;
    const asked = fold(input.value).split(/\s+/).filter(Boolean);
    for (const row of input.closest("[data-ledger]")?.querySelectorAll<HTMLElement>("tbody tr") ?? []) {
      const text = fold(`${row.textContent} ${Object.values(row.dataset).join(" ")}`);
      row.hidden = !asked.every((word) => text.includes(word));
    }
  });
}
