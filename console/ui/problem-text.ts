import { hasNetwork } from '../api/ask.ts';
import { type Problem, problemOf } from '../api/problem.ts';
import { t } from '../text/words.ts';
import { secondsUntil } from './countdown.tsx';

/** True for a request that got no response. */
export const isUnanswered = ({ message, status }: Problem): boolean => status === 0 && message === '';

/** The message of the service, or why there is none. */
export const saidOf = (problem: Problem): string =>
  problem.message ||
  (!isUnanswered(problem) ? t.problem.unknown : hasNetwork.value ? t.problem.none : t.problem.offline);

/** What went wrong, in a line. */
export const problemText = (error: unknown): string => {
  const problem = problemOf(error);
  const { againAt } = problem;
  const said = saidOf(problem);
  return againAt === undefined ? said : `${said} ${t.problem.later(t.time(Math.max(1, secondsUntil(againAt))))}`;
};
