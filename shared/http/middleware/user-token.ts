import { type Bearer, verifyAccessToken } from '../../accounts/tokens.ts';
import { requireUsers } from '../../accounts/users/users.ts';
import {
  type Collection,
  hasRules,
  isPrivate,
  refusesInvalidTokens,
  requiresFactor,
} from '../../collections/collection.ts';
import { AppError } from '../../core/errors.ts';
import { requireFactor, securityRequired, tokenMissing } from '../../documents/access/access.ts';
import type { Caller, Project } from '../../projects/project.ts';
import { requireSignInMethod } from '../../projects/sign-in-methods.ts';
import type { Route } from '../route.ts';
import type { Event, Middleware } from '../stack.ts';
import { bearerToken, type Keyed, wrongKind } from './api-key.ts';
import type { WithAccess, WithCollection } from './collection.ts';

/** Added by `fileCaller`. */
interface WithCaller {
  readonly caller: Caller;
}

/** The end user that a token names, or why there is none. */
type Identity = Pick<Caller, 'mfa'> & ({ readonly userId: string } | { readonly refusal: AppError });

const identify = async (project: Project, token: string | undefined): Promise<Identity> => {
  if (!token) return { refusal: tokenMissing() };
  try {
    const { userId, amr } = await verifyAccessToken(project, token);
    return { userId, ...(amr?.includes('mfa') && { mfa: true }) };
  } catch (error) {
    if (error instanceof AppError && error.code === 'TOKEN_INVALID') return { refusal: error };
    throw error;
  }
};

/**
 * The caller of one collection; a write, private read or read with a second factor that no valid token came with → 401,
 * a token without that factor → 403.
 */
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

/** Who reads: what they are to each of several collections, with the refusals of its list. */
export const readerOf = async (
  { project, keyKind }: Pick<Keyed, 'project' | 'keyKind'>,
  headers: Event['headers'],
): Promise<(collection: Collection) => Caller> => {
  if (keyKind === 'secret') return () => ({ kind: 'secret' });
  const identity = await identify(project, bearerToken(headers));
  return (collection) => callerOf(collection, identity, false);
};

/**
 * Identifies the caller, and refuses what row security forbids any publishable key: a write without row security → 403,
 * a write or private read without a valid token → 401, no second factor where it asks for one → 403. An invalid token
 * that is not needed is ignored.
 */
export const userToken = (writes: boolean): Middleware<Keyed & WithCollection, WithAccess> => ({
  before: async ({ event, context: { keyKind, project, collection } }) => {
    if (keyKind === 'secret') return { visit: { project, collection, caller: { kind: 'secret' } } };
    if (writes && !collection.rls.enabled) throw securityRequired(collection.name);
    const identity = await identify(project, bearerToken(event.headers));
    return { visit: { project, collection, caller: callerOf(collection, identity, writes) } };
  },
});

/**
 * Who deals with files: the secret key, which an invalid token beside takes nothing from, or a user of the publishable
 * one, whose token must be valid (401), and who `uploads` only where the project lets users do so (403).
 */
export const fileCaller = ({ uploads = false } = {}): Middleware<Keyed, WithCaller> => ({
  before: async ({ event, context }) => {
    if (uploads && context.keyKind === 'publishable' && !context.project.uploads.users) throw wrongKind.secret();
    const identity = await identify(context.project, bearerToken(event.headers));
    if (context.keyKind === 'publishable' && 'refusal' in identity) throw identity.refusal;
    return { caller: { kind: context.keyKind, ...('userId' in identity ? { userId: identity.userId } : {}) } };
  },
});

/** Added by `signedInUser`. */
interface WithBearer {
  readonly bearer: Bearer;
}

/** The end user who must be signed in: no token → 401 `TOKEN_MISSING`, a bad or expired one → 401 `TOKEN_INVALID`. */
export const signedInUser = (): Middleware<Keyed, WithBearer> => ({
  before: async ({ event, context }) => {
    const token = bearerToken(event.headers);
    if (!token) throw tokenMissing();
    return { bearer: await verifyAccessToken(context.project, token) };
  },
});

/** Who is signed in, on a route that needs nobody to be; a bad or expired token → 401 `TOKEN_INVALID`. */
export const bearerIfAny = async (project: Project, headers: Event['headers']): Promise<Bearer | undefined> => {
  const token = bearerToken(headers);
  return token === undefined ? undefined : verifyAccessToken(project, token);
};

/** Added by `enabledUsers`. */
export interface WithUsers {
  /** The project's `users` collection. */
  readonly users: Collection;
}

/**
 * Lets only projects with user accounts through: no `users` collection, or auth turned off → 403 `AUTH_DISABLED`; the
 * row's way to sign in turned off → 403 `SIGN_IN_DISABLED`.
 */
export const enabledUsers = ({ way }: Pick<Route, 'way'>): Middleware<Keyed, WithUsers> => ({
  before: async ({ context: { project } }) => {
    const users = await requireUsers(project);
    if (way) requireSignInMethod(project, way);
    return { users };
  },
});
