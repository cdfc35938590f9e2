import { AppError } from '../core/errors.ts';

/** The refusal where a part of the service does not answer: 503, with the cause for the log alone. */
export const serviceUnavailable = (cause: unknown): AppError =>
  new AppError('SERVICE_UNAVAILABLE', 'The service is not available right now. Please try again.', { cause });
