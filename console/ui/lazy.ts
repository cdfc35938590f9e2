import type { ComponentType } from 'preact';
import lazyComponent from 'preact-iso/lazy';
import { offline, onceBack } from '../api/ask.ts';

/** The script could not be loaded, or a newer version has replaced it: reloads the page. */
const beginAgain = (): Promise<never> => {
  offline.value = true;
  onceBack(() => location.reload());
  return new Promise(() => undefined);
};

/** A page whose script is loaded on the first context. */
export const lazy = <Page extends ComponentType>(load: () => Promise<Page>) =>
  lazyComponent(() => load().catch(beginAgain));
