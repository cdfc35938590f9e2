import { AppError } from '../../../shared/core/errors.ts';

/** The checked properties of an error. */
export interface Refusal {
  readonly code: string;
  readonly message: string;
  readonly errors: AppError['errors'];
}

const refused = (error: unknown): Refusal => {
  if (!(error instanceof AppError)) throw error;
  return { code: error.code, message: error.message, errors: error.errors };
};

/** Returns the `AppError` that `act` throws. Fails for any other result. */
export const refusalOf = (act: () => unknown): Refusal => {
  try {
    act();
  } catch (error) {
    return refused(error);
  }
  throw new Error('nothing was refused');
};

/** The asynchronous variant. */
export const laterRefusalOf = (act: Promise<unknown>): Promise<Refusal> =>
  act.then(() => {
    throw new Error('nothing was refused');
  }, refused);
