import type { Collection } from '../../collections/collection.ts';
import type { KeyMatch } from '../../collections/find-project-by-key.ts';
import { AppError } from '../../core/errors.ts';
import { currentRequest } from '../../core/log.ts';
import type { Project } from '../../projects/project.ts';
import type { KeyKind } from '../../projects/project-record.ts';
import type { Middleware } from './middleware-types.ts';
import type { WithProjectLookup } from './project-lookup.ts';

/** Added by `apiKey`. */
export interface Keyed {
  readonly project: Project;
  readonly keyKind: KeyKind;
  /** The collection that the path names, if it is registered. */
  readonly namedCollection: Collection | undefined;
}

/** The refusal of a kind of key that a route does not take. */
export const wrongKind: Readonly<Record<KeyKind, () => AppError>> = {
  secret: () =>
    new AppError('SECRET_KEY_REQUIRED', 'This needs the secret key (sk_live_…) of the project, used server-side.'),
  publishable: () =>
    new AppError('PUBLISHABLE_KEY_REQUIRED', 'This needs the publishable key (pk_live_…) of the project.'),
};

/** What the key opened. No key → 401 `API_KEY_MISSING`, one that opens nothing → 401 `API_KEY_INVALID`. */
export const requireKey = (key: string | undefined, match: KeyMatch | undefined): KeyMatch => {
  if (!key) throw new AppError('API_KEY_MISSING', 'Send the API key of your project in the header x-api-key.');
  if (match) return match;
  throw new AppError('API_KEY_INVALID', 'The API key is not valid. It may have been rotated or revoked.');
};

/** Opens the project that `x-api-key` names; a kind of key that the route does not take → 403. */
export const apiKey = (required?: KeyKind): Middleware<WithProjectLookup, Keyed> => ({
  before: async ({ context }) => {
    const match = requireKey(context.key, await context.keyMatch);
    const record = currentRequest.getStore();
    if (record) record.projectId = match.project.id;
    if (required && match.kind !== required) throw wrongKind[required]();
    return { project: match.project, keyKind: match.kind, namedCollection: match.collection };
  },
});
