import { setTimeout as pause } from 'node:timers/promises';
import { mailSettings } from '../config.ts';
import { mailRuns } from './retries.ts';

/** The longest that a run waits for its turn; for longer waits the mail goes back to the queue. */
const longestWaitMs = 3000;

/** Account at the provider → when the next mail of this process may go, on the process's own clock. */
const turns = new Map<string, number>();
const rememberedAccounts = 1000;

const setTurn = (account: string, time: number): void => {
  turns.delete(account);
  turns.set(account, time);
  if (turns.size > rememberedAccounts) turns.delete(turns.keys().next().value as string);
};

/** Milliseconds between two mails of one run, so that all runs together stay within what the provider takes. */
const spacingMs = (): number => {
  const { MAIL_PER_SECOND } = mailSettings();
  return MAIL_PER_SECOND === 0 ? 0 : (1000 * mailRuns) / MAIL_PER_SECOND;
};

/**
 * Waits until an account may send its next mail; where that is too long, answers the seconds it would take instead of
 * 0.
 */
export const awaitTurn = async (account: string): Promise<number> => {
  const now = performance.now();
  const turn = Math.max(now, turns.get(account) ?? 0);
  if (turn - now > longestWaitMs) return Math.ceil((turn - now) / 1000);
  setTurn(account, turn + spacingMs());
  if (turn > now) await pause(turn - now);
  return 0;
};

/** The longest that an account is held back without being asked again, whatever the provider says: plans change. */
const longestHoldMs = 300_000;

/** The provider takes no more of an account for so long. */
export const holdBack = (account: string, seconds: number): void => {
  const hold = Math.min(seconds * 1000, longestHoldMs);
  setTurn(account, Math.max(performance.now() + hold, turns.get(account) ?? 0));
};
