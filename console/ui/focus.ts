import type { RefObject } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';

/** Where the focus goes back to: what is in a menu is out of sight by then, and its button there in its place. */
export const wayBack = (from: Element | null): HTMLElement | undefined => {
  const menu = from?.closest('[popover]');
  const back = menu ? document.querySelector(`[popovertarget="${CSS.escape(menu.id)}"]`) : from;
  return back instanceof HTMLElement ? back : undefined;
};

/**
 * Keeps the focus of who is in a part of a screen: what they were at may go, and it stays in the part; the part may go,
 * and it is where it was before.
 */
export const useKeptFocus = (part: RefObject<HTMLElement | null>): void => {
  const isIn = useRef(false);
  // Before what is inside takes it.
  const [before] = useState(() => wayBack(document.activeElement));
  useLayoutEffect(() => {
    const shown = part.current;
    if (!shown) return undefined;
    isIn.current = shown.contains(document.activeElement);
    const look = ({ target }: Event) => {
      isIn.current = target instanceof Node && shown.contains(target);
    };
    const keep = new MutationObserver(() => {
      if (isIn.current && document.activeElement === document.body) shown.focus({ preventScroll: true });
    });
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
