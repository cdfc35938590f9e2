import type { RefObject } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';

/** Where the focus returns: for an element inside a closed menu, the menu's button. */
export const wayBack = (from: Element | null): HTMLElement | undefined => {
  const menu = from?.closest('[popover]');
  const back = menu ? document.querySelector(`[popovertarget="${CSS.escape(menu.id)}"]`) : from;
  return back instanceof HTMLElement ? back : undefined;
};

/**
 * Keeps the focus inside a part of a screen if its focused element is removed. If the part itself is removed, the
 * focus returns to where it was before.
 */
export const useKeptFocus = (part: RefObject<HTMLElement | null>): void => {
  const isIn = useRef(false);
  // Must run before an inner element takes the focus.
  const [before] = useState(() => wayBack(document.activeElement));
  useLayoutEffect(() => {
    const shown = part.current;
    if (!shown) return undefined;
    isIn.current = shown.contains(document.activeElement);
    const look = ({ target }: Event) => {
      isIn.current = target instanceof Node && shown.contains(target);
    };
    const focus = () => {
      if (isIn.current && document.activeElement === document.body) shown.focus({ preventScroll: true });
    };
    // Not immediately: between the blur of a field and the focus of the next one, no element has the focus.
    const keep = new MutationObserver(() => setTimeout(focus));
    keep.observe(shown, { childList: true, subtree: true });
    addEventListener('focusin', look);
    addEventListener('pointerdown', look);
    return () => {
      keep.disconnect();
      removeEventListener('focusin', look);
      removeEventListener('pointerdown', look);
      if (isIn.current) before?.focus();
    };
  }, [part, before]);
};
