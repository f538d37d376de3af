// The statement of an exercise unfolds its answer too, wherever nothing in it has a use of its own.

export function setUpExercises(): void {
  document.addEventListener("click", (event) => {
    if (!(event.target instanceof Element) || event.target.closest("a, code, .num, [data-numbers]")) return;
    const details = event.target.closest(".ex__q")?.parentElement?.querySelector("details");
    if (details && !getSelection()?.toString()) details.open = !details.open;
  });
}
