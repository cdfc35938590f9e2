import { problemOf } from '../../api/problem.ts';
import type { Data } from '../../api/rows.ts';
import { signedIn } from '../../api/session.ts';

/** Stores the result of a sign-in and goes to `goOn`. Returns the ticket if a second factor is required. */
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
