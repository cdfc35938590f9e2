export const gap = 4;

/** The top of a box below an element, or above it if there is no room below. */
export const topOf = (top: number, bottom: number, height: number): number =>
  bottom + gap + height > innerHeight ? Math.max(gap, top - gap - height) : bottom + gap;

/** Shows a popover below an element, or above it if there is no room below. */
export const showBeside = (box: HTMLElement, of: HTMLElement): void => {
  box.showPopover();
  const { left, top, bottom } = of.getBoundingClientRect();
  const { style, offsetHeight, offsetWidth } = box;
  style.top = `${topOf(top, bottom, offsetHeight)}px`;
  style.left = `${Math.max(gap, Math.min(left, innerWidth - offsetWidth - gap))}px`;
};
