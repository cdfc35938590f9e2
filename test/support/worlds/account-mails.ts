import { type AccountMailSender, accountMailTally } from '../../../shared/mail/account-limits.ts';
import { newCall, take } from '../../../shared/persistence/counters.ts';

/** Has a project send so many mails of user accounts today (UTC) with the key that all share. */
export const setAccountMails = async (project: AccountMailSender, sent: number): Promise<void> => {
  const tally = accountMailTally(project, 1_000_000, 1);
  const counts = tally.counts.map((count) => ({ ...count, weight: sent }));
  await take({ call: newCall(), tallies: [{ ...tally, counts }] });
};
