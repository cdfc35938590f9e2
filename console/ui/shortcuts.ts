import { useLayoutEffect } from 'preact/hooks';
import { type KeyedAct, keys } from './keys.ts';

/** What some of the acts with keys do on a screen, or in a part of it. */
export type Shortcuts = { readonly [Act in KeyedAct]?: () => void };

const pauseMs = 800;

/** Whether a key belongs to what is typed into; Escape means something of its own in the editor of JSON alone. */
const isTyped = (target: EventTarget | undefined, key: string): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || (key !== 'Escape' && /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName)));

/** What each part that is there does, in the order in which they came. */
const present = new Set<Shortcuts>();

/** What can be done by key at the moment; where two parts do the same act, the later one does it. */
export const actsNow = (): Shortcuts => Object.assign({}, ...present);

const actOf = (acts: Shortcuts, typed: string): (() => void) | undefined =>
  Object.entries(acts).find(([act]) => keys[act as KeyedAct] === typed)?.[1];

/** Listens for shortcuts as long as the screen is there. */
export const useShortcuts = (shortcuts: Shortcuts): void => {
  useLayoutEffect(() => {
    let before = '';
    let at = 0;
    const onKeyDown = (event: KeyboardEvent) => {
      const mod = event.metaKey || event.ctrlKey;
      const key = mod ? `mod+${event.key.toLowerCase()}` : event.key;
      if (
        (!mod && (isTyped(event.composedPath()[0], key) || event.altKey || event.isComposing)) ||
        document.querySelector('dialog[open]')
      )
        return;
      const pair = event.timeStamp - at < pauseMs ? `${before} ${key}` : key;
      const act = actOf(shortcuts, pair) ?? actOf(shortcuts, key);
      before = key;
      at = event.timeStamp;
      if (!act) return;
      event.preventDefault();
      act();
    };
    present.add(shortcuts);
    addEventListener('keydown', onKeyDown);
    return () => {
      present.delete(shortcuts);
      removeEventListener('keydown', onKeyDown);
    };
  }, [shortcuts]);
};
