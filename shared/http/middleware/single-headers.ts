import { validationFailed } from '../../core/errors.ts';
import type { Middleware } from '../stack.ts';

/** Headers whose value is one, and never has a comma; `Idempotency-Key` has its own check. */
const single = {
  authorization: 'Authorization',
  origin: 'Origin',
  'x-api-key': 'x-api-key',
  'x-refresh-token': 'x-refresh-token',
} as const;

/**
 * Refuses a request that has one of these headers twice: 400 `VALIDATION_FAILED`. The gateway joins the values by a
 * comma (RFC 9110, 5.3), which no value of these has, so a joined one would count as another value or as none.
 */
export const singleHeaders = (): Middleware<unknown, void> => ({
  before: ({ event: { headers } }) => {
    for (const [name, field] of Object.entries(single)) {
      if (!headers[name]?.includes(',')) continue;
      throw validationFailed({ field, message: `${field} was sent twice or contains a comma. Send one value.` });
    }
  },
});
