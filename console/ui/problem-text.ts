import { type Problem, problemOf } from '../api/problem.ts';
import { t } from '../text/words.ts';
import { secondsUntil } from './countdown.tsx';

/** What the service said, or that it said nothing. */
export const saidOf = ({ message, status }: Problem): string =>
  message || (status === 0 ? t.problem.none : t.problem.unknown);

/** What went wrong, in a line. */
export const problemText = (error: unknown): string => {
  const problem = problemOf(error);
  const { againAt } = problem;
  const said = saidOf(problem);
  return againAt === undefined ? said : `${said} ${t.problem.later(t.time(Math.max(1, secondsUntil(againAt))))}`;
};
