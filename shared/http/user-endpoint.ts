import { type Bearer, verifyAccessToken } from '../accounts/tokens.ts';
import { requireUsers } from '../accounts/users/users.ts';
import type { Collection } from '../collections/collection.ts';
import { tokenMissing } from '../documents/access/access.ts';
import type { Project } from '../projects/project.ts';
import { requireSignInMethod } from '../projects/user-settings.ts';
import type { Of } from './endpoint.ts';
import { bearerToken, type Keyed, wrongKind } from './middleware/api-key.ts';
import { once } from './middleware/idempotency.ts';
import { input } from './middleware/input.ts';
import { fileCaller, type WithCaller } from './middleware/user-token.ts';
import { keptPathOf, keyed, type Repeatable } from './project-endpoint.ts';
import type { Route } from './route.ts';
import type { Event, Middleware } from './stack.ts';

interface WithBearer {
  readonly bearer: Bearer;
}

/** Throws 401 `TOKEN_MISSING` or `TOKEN_INVALID` unless a user is signed in. */
export const signedInUser = (): Middleware<Keyed, WithBearer> => ({
  before: async ({ event, context }) => {
    const token = bearerToken(event.headers);
    if (!token) throw tokenMissing();
    return { bearer: await verifyAccessToken(context.project, token) };
  },
});

/** Returns the signed-in user, if any. Throws 401 `TOKEN_INVALID` for an invalid token. */
export const bearerIfAny = async (project: Project, headers: Event['headers']): Promise<Bearer | undefined> => {
  const token = bearerToken(headers);
  return token === undefined ? undefined : verifyAccessToken(project, token);
};

export interface WithUsers {
  readonly users: Collection;
}

/**
 * Throws 403 `AUTH_DISABLED` if the project has no user accounts, 403 `SIGN_IN_DISABLED` if the route's sign-in method
 * is off.
 */
export const enabledUsers = ({ way }: Pick<Route, 'way'>): Middleware<Keyed, WithUsers> => ({
  before: async ({ context: { project } }) => {
    const users = await requireUsers(project);
    if (way) requireSignInMethod(project, way);
    return { users };
  },
});

export const usersEndpoint = <const R extends Of<'publishableKey'>>(route: R) =>
  keyed(route).use(enabledUsers(route)).use(input(route));

/** Opens a user's account; runs once per `Idempotency-Key`. */
export const signUpEndpoint = <const R extends Repeatable<Of<'publishableKey'>>>(route: R) =>
  keyed(route, undefined, keptPathOf(route)).use(enabledUsers(route)).use(once(route)).use(input(route));

/** The user's own files need a signed-in user, those of a document only the right to read it. */
const fileLister = (): Middleware<Keyed, WithCaller> => ({
  before: async (incoming) => {
    const query = new URLSearchParams(incoming.event.rawQueryString);
    if (query.has('collection') || query.has('id')) return fileCaller({ anyone: true }).before(incoming);
    if (incoming.context.keyKind === 'secret') throw wrongKind.publishable();
    await enabledUsers({}).before(incoming);
    const { bearer } = await signedInUser().before(incoming);
    return { caller: { kind: 'publishable', userId: bearer.userId } };
  },
});

export const fileListEndpoint = <const R extends Of<'anyKey'>>(route: R) =>
  keyed(route, 'beside').use(fileLister()).use(input(route));

export const userEndpoint = <const R extends Of<'user'>>(route: R) =>
  keyed(route, 'beside').use(enabledUsers(route)).use(signedInUser()).use(input(route));
