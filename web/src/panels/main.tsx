// Which panels are on this page? Each is drawn into its frame; those of a page that was left are ended.
// A panel that fails leaves its static part where it is.
import { type ComponentType, render } from "preact";
import { AttentionMaps } from "./attention-maps";
import { BlockPanel } from "./block-panel";
import { PanelContext, readPanel } from "./frame";
import { OrderLengths } from "./order-lengths";
import { ScaleSlider } from "./scale-slider";
import { Gpt2Size, ModernSize } from "./size-panel";

// For whoever holds them against Python's.
export { formatNumber, parseNumber, writeExactly } from "./number";
export { gpt2Sizes, modernSizes, parseCount } from "./sizes";

const PANELS: Record<string, ComponentType> = {
  "attention-maps": AttentionMaps,
  "block-panel": BlockPanel,
  "gpt2-size": Gpt2Size,
  "modern-size": ModernSize,
  "order-lengths": OrderLengths,
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
