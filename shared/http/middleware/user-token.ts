import { requireUserSession } from '../../accounts/sessions.ts';
import { verifyAccessToken } from '../../accounts/tokens.ts';
import { type Collection, hasRules, isPrivate, requiresFactor } from '../../collections/collection.ts';
import { AppError } from '../../core/errors.ts';
import { currentRequest } from '../../core/request.ts';
import { refusesInvalidTokens, requireFactor, securityRequired, tokenMissing } from '../../documents/access/access.ts';
import type { Caller, Project } from '../../projects/project.ts';
import type { Event, Middleware } from '../stack.ts';
import { bearerToken, type Keyed, wrongKind } from './api-key.ts';
import type { WithAccess, WithCollection } from './collection.ts';

export interface WithCaller {
  readonly caller: Caller;
}

/** The user that a token identifies, or why there is none. */
type Identity = Pick<Caller, 'mfa'> & ({ readonly userId: string } | { readonly refusal: AppError });

/** With `strictSessions`, a write also needs a session that has not ended, which costs one look-up. */
const identify = async (project: Project, token: string | undefined, writes: boolean): Promise<Identity> => {
  if (!token) return { refusal: tokenMissing() };
  try {
    const bearer = await verifyAccessToken(project, token);
    if (writes && project.strictSessions) await requireUserSession(project.id, bearer);
    const { userId, amr } = bearer;
    const record = currentRequest.getStore();
    if (record) record.userId = userId;
    return { userId, ...(amr?.includes('mfa') && { mfa: true }) };
  } catch (error) {
    if (error instanceof AppError && error.code === 'TOKEN_INVALID') return { refusal: error };
    throw error;
  }
};

/** Throws 401 if the collection needs a user and there is no valid token, 403 if it needs a second factor. */
const callerOf = (collection: Collection, identity: Identity, writes: boolean): Caller => {
  const { rls } = collection;
  const needed = (writes && rls.enabled && !hasRules(rls)) || isPrivate(rls) || requiresFactor(rls);
  if ('refusal' in identity) {
    const isInvalid = identity.refusal.code === 'TOKEN_INVALID';
    if (needed || (isInvalid && refusesInvalidTokens(rls))) throw identity.refusal;
    return { kind: 'publishable', ...(isInvalid && { hasInvalidToken: true }) };
  }
  const caller: Caller = { kind: 'publishable', ...identity };
  requireFactor({ collection, caller });
  return caller;
};

/** Returns the caller for each of several collections, with the same errors as their lists. */
export const readerOf = async (
  { project, keyKind }: Pick<Keyed, 'project' | 'keyKind'>,
  headers: Event['headers'],
): Promise<(collection: Collection) => Caller> => {
  if (keyKind === 'secret') return () => ({ kind: 'secret' });
  const identity = await identify(project, bearerToken(headers), false);
  return (collection) => callerOf(collection, identity, false);
};

/**
 * Identifies the caller and enforces row security for the publishable key. Throws 403 for a write without row security,
 * 401 for a write or private read without a valid token, 403 without a required second factor. An invalid token that is
 * not needed is ignored.
 */
export const userToken = (writes: boolean): Middleware<Keyed & WithCollection, WithAccess> => ({
  before: async ({ event, context: { keyKind, project, collection } }) => {
    if (keyKind === 'secret') return { access: { project, collection, caller: { kind: 'secret' } } };
    if (writes && !collection.rls.enabled) throw securityRequired(collection.name);
    const identity = await identify(project, bearerToken(event.headers), writes);
    return { access: { project, collection, caller: callerOf(collection, identity, writes) } };
  },
});

/**
 * Identifies the caller of files: the secret key, or a user with a valid token (otherwise 401). With `uploads`, users
 * need the project's permission (otherwise 403). With `anyone`, the publishable key needs no user.
 */
export const fileCaller = ({ uploads = false, anyone = false } = {}): Middleware<Keyed, WithCaller> => ({
  before: async ({ event, context }) => {
    if (uploads && context.keyKind === 'publishable' && !context.project.uploads.users) throw wrongKind.secret();
    const identity = await identify(
      context.project,
      bearerToken(event.headers),
      uploads && context.keyKind === 'publishable',
    );
    const isMissing = 'refusal' in identity && identity.refusal.code === 'TOKEN_MISSING';
    if (context.keyKind === 'publishable' && 'refusal' in identity && !(anyone && isMissing)) throw identity.refusal;
    return { caller: { kind: context.keyKind, ...('userId' in identity ? identity : {}) } };
  },
});

/**
 * Identifies the caller of a batch: the secret key, or a user with a valid token (otherwise 401). Each write checks the
 * row security of its collection.
 */
export const batchCaller = (): Middleware<Keyed, WithCaller> => ({
  before: async ({ event, context: { project, keyKind } }) => {
    if (keyKind === 'secret') return { caller: { kind: keyKind } };
    const identity = await identify(project, bearerToken(event.headers), true);
    if ('refusal' in identity) throw identity.refusal;
    return { caller: { kind: keyKind, ...identity } };
  },
});
