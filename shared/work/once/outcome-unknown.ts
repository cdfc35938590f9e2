import { AppError } from '../../core/errors.ts';

/** The refusal of a repeat whose first run ended without an answer, and may have been carried out or not (409). */
export const outcomeUnknown = (): AppError =>
  new AppError(
    'IDEMPOTENCY_OUTCOME_UNKNOWN',
    'The first request with this Idempotency-Key ended without an answer, so it may have been carried out or not. Look what there is now, and if it is to be done again use another key.',
  );
