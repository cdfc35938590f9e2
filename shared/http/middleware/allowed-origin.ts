import type { KeyMatch } from '../../collections/find-project-by-key.ts';
import { cutText } from '../../core/bounded-text.ts';
import { AppError } from '../../core/errors.ts';
import { allowsOrigin } from '../../projects/allowed-origin.ts';
import type { KeyKind } from '../../projects/project-record.ts';
import type { Keyed } from './api-key.ts';
import type { Event, Middleware } from './middleware-types.ts';

const maxShownLength = 100;

const noOrigin =
  'This request has no Origin, and the project takes its publishable key from its allowed domains only. Servers use the secret key.';

const secretInPage =
  ' A secret key (sk_live_…) does not belong in a page, where every visitor can read it: use the publishable key there, and rotate the secret one.';

const originRefused = (origin: string | undefined, kind: KeyKind): AppError =>
  new AppError(
    'ORIGIN_NOT_ALLOWED',
    origin === undefined
      ? noOrigin
      : `${cutText(origin, maxShownLength)} is not in the allowed domains of the project (allowedDomains).${kind === 'secret' ? secretInPage : ''}`,
  );

/** From a page a key works only if the project allows its origin; without `Origin` only the secret one does. */
export const requireAllowedOrigin = (event: Event, { project, kind }: Pick<KeyMatch, 'project' | 'kind'>): void => {
  const { origin } = event.headers;
  const isServer = kind === 'secret' && origin === undefined;
  if (!isServer && !allowsOrigin(project.allowedDomains, origin)) throw originRefused(origin, kind);
};

/** Refuses a request whose origin the project does not allow: 403 `ORIGIN_NOT_ALLOWED`. */
export const allowedOrigin = (): Middleware<Keyed, void> => ({
  before: ({ event, context: { project, keyKind } }) => requireAllowedOrigin(event, { project, kind: keyKind }),
});
