import { validationFailed } from '../../core/errors.ts';
import type { Middleware } from '../stack.ts';

/** Headers with a single value that never contains a comma. `Idempotency-Key` has its own check. */
const single = {
  authorization: 'Authorization',
  origin: 'Origin',
  'x-api-key': 'x-api-key',
  'x-refresh-token': 'x-refresh-token',
} as const;

/**
 * Throws 400 `VALIDATION_FAILED` if one of these headers is sent twice. The gateway joins the values with a comma (RFC
 * 9110, 5.3), which would make another value or none.
 */
export const singleHeaders = (): Middleware<unknown, void> => ({
  before: ({ event: { headers } }) => {
    for (const [name, field] of Object.entries(single)) {
      if (!headers[name]?.includes(',')) continue;
      throw validationFailed({ field, message: `${field} was sent twice or contains a comma. Send one value.` });
    }
  },
});
