import { type AccountMailSender, accountMailCounter } from '../../../shared/mail/account-limits.ts';
import { newCall, reserve } from '../../../shared/persistence/counters.ts';

/** Has a project send so many mails of user accounts today (UTC) with the key that all share. */
export const setAccountMails = async (project: AccountMailSender, sent: number): Promise<void> => {
  const tally = accountMailCounter(project, 1_000_000, 1);
  const counts = tally.counts.map((count) => ({ ...count, weight: sent }));
  await reserve({ call: newCall(), tallies: [{ ...tally, counts }] });
};
