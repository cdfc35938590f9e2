import type { ComponentType } from 'preact';
import lazyComponent from 'preact-iso/lazy';
import { offline, onceBack } from '../api/ask.ts';

/**
 * A script that cannot be had now, or that a newer version of the console has replaced: begins again at its address.
 */
const beginAgain = (): Promise<never> => {
  offline.value = true;
  onceBack(() => location.reload());
  return new Promise(() => undefined);
};

/** A page whose script is loaded when one first goes there. */
export const lazy = <Page extends ComponentType>(load: () => Promise<Page>) =>
  lazyComponent(() => load().catch(beginAgain));
