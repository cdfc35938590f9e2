import { AppError } from '../../../shared/core/errors.ts';

/** What a refusal is checked by. */
export interface Refusal {
  readonly code: string;
  readonly message: string;
  readonly errors: AppError['errors'];
}

const refused = (error: unknown): Refusal => {
  if (!(error instanceof AppError)) throw error;
  return { code: error.code, message: error.message, errors: error.errors };
};

/** The `AppError` that an act ends with; anything else, or no error at all, fails the test. */
export const refusalOf = (act: () => unknown): Refusal => {
  try {
    act();
  } catch (error) {
    return refused(error);
  }
  throw new Error('nothing was refused');
};

/** The same for an act that takes its time. */
export const laterRefusalOf = (act: Promise<unknown>): Promise<Refusal> =>
  act.then(() => {
    throw new Error('nothing was refused');
  }, refused);
