import { setTimeout as pause } from 'node:timers/promises';
import { CommandError, type Terminal } from './terminal.ts';

/** Below the rate limit of a deployment, 100 requests in 15 minutes. */
const defaultSeconds = 15;

/** The option of commands that watch. */
export const every = {
  type: 'string',
  value: 'SECONDS',
  about: `the time between two requests; ${defaultSeconds}`,
} as const;

/** Parses the value of `--every`. */
export const secondsOf = (text: string | undefined): number => {
  if (text === undefined) return defaultSeconds;
  if (/^[1-9]\d{0,4}$/.test(text)) return Number(text);
  throw new CommandError('--every must be a number of seconds from 1 to 99999.');
};

/** Repeats an action until the developer interrupts it. Failures are shown, and the next round tries again. */
export const repeat = async (terminal: Terminal, seconds: number, act: () => Promise<void>): Promise<void> => {
  const signal = terminal.onInterrupt();
  for (;;) {
    try {
      await pause(seconds * 1000, undefined, { signal });
      await act();
    } catch (error) {
      if (signal.aborted) return;
      terminal.note((error as Error).message);
    }
  }
};
