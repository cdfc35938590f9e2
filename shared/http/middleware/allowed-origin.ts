import { AppError } from '../../errors.ts';
import { allowsOrigin } from '../../projects/allowed-origin.ts';
import type { KeyMatch } from '../../projects/find-project.ts';
import type { Adds, Event } from './adds.ts';
import type { Keyed } from './api-key.ts';

/** Domain whitelist: a publishable key works only from the project's allowed origins (contract 1). */
export const requireAllowedOrigin = (event: Event, { project, kind }: Pick<KeyMatch, 'project' | 'kind'>): void => {
  if (kind !== 'publishable' || allowsOrigin(project.allowedDomains, event.headers.origin)) return;
  throw new AppError('ORIGIN_NOT_ALLOWED', 'This origin is not in the allowed domains of the project.');
};

/** Refuses a request whose origin the project does not allow: 403 `ORIGIN_NOT_ALLOWED`. */
export const allowedOrigin = (): Adds<Keyed> => ({
  before: ({ event, context: { project, keyKind } }) => requireAllowedOrigin(event, { project, kind: keyKind }),
});
