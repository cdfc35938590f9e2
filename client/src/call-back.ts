import { page } from './page.ts';

/** Calls back what an app gave; what it throws is reported, as of any listener, and ends nothing. */
export const callBack = (act: () => unknown): void => {
  try {
    act();
  } catch (error) {
    if (page.reportError) page.reportError(error);
    else console.error(error);
  }
};
