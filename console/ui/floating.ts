const gap = 4;

/** Shows a popover below an element, or above it if there is no room below. */
export const showBeside = (box: HTMLElement, of: HTMLElement): void => {
  box.showPopover();
  const { left, top, bottom } = of.getBoundingClientRect();
  const { style, offsetHeight, offsetWidth } = box;
  const below = bottom + gap;
  style.top = `${below + offsetHeight > innerHeight ? Math.max(gap, top - gap - offsetHeight) : below}px`;
  style.left = `${Math.max(gap, Math.min(left, innerWidth - offsetWidth - gap))}px`;
};
