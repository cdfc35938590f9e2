import { problemOf } from '../../api/problem.ts';
import type { Data } from '../../api/rows.ts';
import { signedIn } from '../../api/session.ts';

/**
 * Takes what a sign-in answers and leaves for `goOn`, before the page is another one; the ticket to go on with where it
 * asks for the second factor.
 */
export const enter = async (
  answer: Promise<{ readonly data: Data<'sign-in-developer'> }>,
  goOn: () => void,
): Promise<string | undefined> => {
  try {
    signedIn((await answer).data);
    goOn();
    return undefined;
  } catch (error) {
    const { ticket } = problemOf(error);
    if (ticket === undefined) throw error;
    return ticket;
  }
};
