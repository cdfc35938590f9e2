import { page } from './page.ts';

/** Runs a callback of the app. Its errors are reported as those of any event listener and stop nothing. */
export const callBack = (act: () => unknown): void => {
  try {
    act();
  } catch (error) {
    if (page.reportError) page.reportError(error);
    else console.error(error);
  }
};
