import { problemOf } from '../api/problem.ts';
import { t } from '../text/words.ts';

/** What went wrong, in a line. */
export const problemText = (error: unknown): string => {
  const { message, status, againAt } = problemOf(error);
  const said = message || (status === 0 ? t.problem.none : t.problem.unknown);
  return againAt === undefined
    ? said
    : `${said} ${t.problem.later(t.time(Math.max(1, Math.ceil((againAt - Date.now()) / 1000))))}`;
};
