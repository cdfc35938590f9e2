import type { KeyMatch } from '../../collections/find-project-by-key.ts';
import { AppError } from '../../errors.ts';
import { allowsOrigin } from '../../projects/allowed-origin.ts';
import type { Keyed } from './api-key.ts';
import type { Adds, Event } from './middleware-types.ts';

const longestShown = 100;

const originRefused = (origin: string | undefined): AppError =>
  new AppError(
    'ORIGIN_NOT_ALLOWED',
    origin === undefined
      ? 'This request has no Origin, and the project takes its publishable key from its allowed domains only. Servers use the secret key.'
      : `${origin.slice(0, longestShown)} is not in the allowed domains of the project (allowedDomains).`,
  );

/** Domain whitelist: a publishable key works only from the project's allowed origins (contract 1). */
export const requireAllowedOrigin = (event: Event, { project, kind }: Pick<KeyMatch, 'project' | 'kind'>): void => {
  if (kind !== 'publishable' || allowsOrigin(project.allowedDomains, event.headers.origin)) return;
  throw originRefused(event.headers.origin);
};

/** Refuses a request whose origin the project does not allow: 403 `ORIGIN_NOT_ALLOWED`. */
export const allowedOrigin = (): Adds<Keyed> => ({
  before: ({ event, context: { project, keyKind } }) => requireAllowedOrigin(event, { project, kind: keyKind }),
});
