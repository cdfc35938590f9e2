import { AppError } from '../../errors.ts';
import { allowsOrigin } from '../../projects/allowed-origin.ts';
import type { Adds } from './adds.ts';
import type { Keyed } from './api-key.ts';

/** Domain whitelist: a publishable key works only from the project's allowed origins (contract 1). */
export const allowedOrigin = (): Adds<Keyed> => ({
  before: ({ event, context }) => {
    if (context.keyKind !== 'publishable') return;
    if (allowsOrigin(context.project.allowedDomains, event.headers.origin)) return;
    throw new AppError('ORIGIN_NOT_ALLOWED', 'This origin is not in the allowed domains of the project.');
  },
});
