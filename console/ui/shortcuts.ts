import { useLayoutEffect } from 'preact/hooks';

/** A key, or two in a row, that do something outside of fields: `g d`, `?`, `n`. `mod+k` also inside. */
export type Shortcuts = Readonly<Record<string, () => void>>;

const pauseMs = 800;

const isTyping = (target: EventTarget | undefined): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

/** Listens for shortcuts as long as the screen is there. */
export const useShortcuts = (shortcuts: Shortcuts): void => {
  useLayoutEffect(() => {
    let before = '';
    let at = 0;
    const onKeyDown = (event: KeyboardEvent) => {
      const mod = event.metaKey || event.ctrlKey;
      const key = mod ? `mod+${event.key.toLowerCase()}` : event.key;
      if ((!mod && (isTyping(event.composedPath()[0]) || event.altKey)) || document.querySelector('dialog[open]'))
        return;
      const pair = event.timeStamp - at < pauseMs ? `${before} ${key}` : key;
      const act = shortcuts[pair] ?? shortcuts[key];
      before = key;
      at = event.timeStamp;
      if (!act) return;
      event.preventDefault();
      act();
    };
    addEventListener('keydown', onKeyDown);
    return () => removeEventListener('keydown', onKeyDown);
  }, [shortcuts]);
};
