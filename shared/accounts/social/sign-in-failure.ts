import { AppError } from '../../core/errors.ts';

/** A social sign-in that came to nothing; the message is for the person who tried. */
export const signInFailed = (message: string, cause?: unknown): AppError =>
  new AppError('SOCIAL_SIGN_IN_FAILED', message, { cause });
