// Which panels are on this page? Each is drawn into its frame; those of a page that was left are ended.
// A panel that fails leaves its static part where it is.
import { type ComponentType, render } from "preact";
import { BlockPanel } from "./block-panel";
import { PanelContext, readPanel } from "./frame";
import { ScaleSlider } from "./scale-slider";

export { formatNumber, parseNumber, writeExactly } from "./number"; // for whoever holds them against Python's

const PANELS: Record<string, ComponentType> = {
  "block-panel": BlockPanel,
  "scale-slider": ScaleSlider,
};

const mounted = new Set<HTMLElement>();

export function setUpPanels(): void {
  for (const element of mounted)
    if (!element.isConnected) {
      render(null, element);
      mounted.delete(element);
    }
  for (const element of document.querySelectorAll<HTMLElement>("[data-panel]")) {
    const live = element.querySelector<HTMLElement>(".panel__live");
    const Drawn = PANELS[element.dataset.panel ?? ""];
    if (!live || !Drawn || mounted.has(live)) continue;
    render(
      <PanelContext.Provider value={readPanel(element)}>
        <Drawn />
      </PanelContext.Provider>,
      live,
    );
    mounted.add(live);
    element.dataset.live = "";
  }
}
