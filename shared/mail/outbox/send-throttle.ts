import { setTimeout as pause } from 'node:timers/promises';
import { mailSettings } from '../../core/config.ts';
import { remember } from '../../core/remember.ts';
import { mailRuns } from './retries.ts';

/** Longest wait of a run, in ms; for a longer one the mail goes back to the queue. */
const maxWaitMs = 3000;

/** Account at the provider → earliest time of its next mail, by `performance.now()` of this process. */
const turns = new Map<string, number>();
const rememberedAccounts = 1000;

const setTurn = (account: string, time: number): void => remember(turns, account, time, rememberedAccounts);

/** Milliseconds between two mails of one run, so that all parallel runs together respect the provider's limit. */
const spacingMs = (): number => {
  const { MAIL_PER_SECOND } = mailSettings();
  return MAIL_PER_SECOND === 0 ? 0 : (1000 * mailRuns) / MAIL_PER_SECOND;
};

/** Waits until an account may send its next mail, and returns 0; or the seconds where that is too long. */
export const waitForTurn = async (account: string): Promise<number> => {
  const now = performance.now();
  const turn = Math.max(now, turns.get(account) ?? 0);
  if (turn - now > maxWaitMs) return Math.ceil((turn - now) / 1000);
  setTurn(account, turn + spacingMs());
  if (turn > now) await pause(turn - now);
  return 0;
};

/** Longest pause of an account, whatever the provider asks for: its limits may change. */
const maxPauseMs = 300_000;

/** Pauses an account that the provider has rate-limited for this many seconds. */
export const pauseAccount = (account: string, seconds: number): void => {
  const hold = Math.min(seconds * 1000, maxPauseMs);
  setTurn(account, Math.max(performance.now() + hold, turns.get(account) ?? 0));
};
