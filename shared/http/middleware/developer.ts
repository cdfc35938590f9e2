import {
  isPersonalToken,
  requireScopes,
  type TokenGrant,
  verifyPersonalToken,
} from '../../accounts/developers/developers.ts';
import { requireSession } from '../../accounts/sessions.ts';
import { type Bearer, verifyDashboardToken } from '../../accounts/tokens.ts';
import { AppError } from '../../core/errors.ts';
import { currentRequest } from '../../core/log.ts';
import { developerScope } from '../../persistence/item-keys.ts';
import { findOwnedProject, findOwner, loadOwner, type OwnedProject } from '../../projects/find-project.ts';
import { includesRole, type Role } from '../../projects/project.ts';
import { isRead, type Route, scopesOf } from '../route.ts';
import type { Event, Middleware } from '../stack.ts';
import { bearerToken } from './api-key.ts';

/** The developer who calls (24 hex characters) and how they authenticated. */
interface DeveloperCaller {
  readonly developerId: string;
  /** The personal access token that the request came with; `undefined` where the developer is signed in. */
  readonly personalToken: TokenGrant | undefined;
  /** The session of a developer who is signed in. */
  readonly sessionId?: string;
}

/** Added by `developerToken`. */
export interface WithDeveloper {
  readonly developer: DeveloperCaller;
}

/** Added by `signedInDeveloper`. */
interface WithSignedIn {
  /** The signed-in developer and their session. */
  readonly signedIn: Bearer;
}

/** Added by `ownedProject`. */
export interface WithOwnedProject {
  readonly owned: OwnedProject;
}

const requireToken = ({ headers }: Event): string => {
  const token = bearerToken(headers);
  if (token) return token;
  throw new AppError('TOKEN_MISSING', 'Sign in first, and send Authorization: Bearer <dashboard token>.');
};

const personOnly = (): AppError =>
  new AppError('SCOPE_REQUIRED', 'Personal access tokens cannot do this. Sign in to the dashboard.');

/** Refuses a token that lacks a scope of the route, and one limited to some projects for routes outside of any project. */
const requireScope = ({ scopes, projectIds }: TokenGrant, route: Route): void => {
  const needed = scopesOf(route);
  if (needed.length === 0) throw personOnly();
  requireScopes({ scopes }, needed);
  if (route.path === '/api/projects' && !isRead(route) && projectIds !== null) {
    throw new AppError(
      'SCOPE_REQUIRED',
      'This personal access token is limited to some projects, so it cannot create one.',
    );
  }
};

/**
 * Who is signed in. An access token outlives its session by up to 15 minutes, long enough to make a way back: so a row
 * that changes something asks whether the session still stands.
 */
const signedInBy = async (token: string, route: Route): Promise<Bearer> => {
  const bearer = await verifyDashboardToken(token);
  if (!isRead(route)) await requireSession(developerScope, bearer.userId, bearer.sessionId);
  return bearer;
};

/**
 * The developer whose dashboard token or personal access token this is; none → 401 `TOKEN_MISSING`, bad, expired or,
 * unless the row only reads, of a session that has ended → 401 `TOKEN_INVALID`, a personal one without the route's
 * scope → 403 `SCOPE_REQUIRED`.
 */
export const developerToken = (route: Route): Middleware<unknown, WithDeveloper> => ({
  before: async ({ event }) => {
    const token = requireToken(event);
    if (!isPersonalToken(token)) {
      const { userId: developerId, sessionId } = await signedInBy(token, route);
      return { developer: { developerId, sessionId, personalToken: undefined } };
    }
    const personalToken = await verifyPersonalToken(token);
    requireScope(personalToken, route);
    return { developer: { developerId: personalToken.developerId, personalToken } };
  },
});

/** Requires a signed-in developer: a personal access token → 403 `SCOPE_REQUIRED`. */
export const signedInDeveloper = (route: Route): Middleware<unknown, WithSignedIn> => ({
  before: async ({ event }) => {
    const token = requireToken(event);
    if (isPersonalToken(token)) {
      await verifyPersonalToken(token);
      throw personOnly();
    }
    return { signedIn: await signedInBy(token, route) };
  },
});

/** The least role that a row below a project asks for. */
export const roleFor = (route: Route): Role => route.role ?? (isRead(route) ? 'viewer' : 'admin');

/** Refuses a role that is too low: 403 `ROLE_REQUIRED`. */
const requireRole = (role: Role, needed: Role): void => {
  if (includesRole(role, needed)) return;
  throw new AppError('ROLE_REQUIRED', `This needs the role ${needed} in the project; yours is ${role}.`);
};

/**
 * The project of the path, if the developer owns it or is a member and their token, if limited to some projects,
 * includes it; otherwise 404, as if it did not exist. Role too low → 403 `ROLE_REQUIRED`.
 */
export const ownedProject = (route: Route): Middleware<WithDeveloper, WithOwnedProject> => {
  const needed = roleFor(route);
  const ownerOf = isRead(route) ? findOwner : loadOwner;
  return {
    before: async ({ event, context }) => {
      const { developerId, personalToken } = context.developer;
      const projectId = (event.pathParameters?.projectId ?? '').toLowerCase();
      const reachable = personalToken?.projectIds?.includes(projectId) ?? true;
      const owned = reachable ? await findOwnedProject(developerId, projectId, ownerOf) : undefined;
      if (!owned) {
        throw new AppError('PROJECT_NOT_FOUND', 'Project not found, or you are not a member.');
      }
      const record = currentRequest.getStore();
      if (record) record.projectId = owned.project.id;
      requireRole(owned.role, needed);
      return { owned };
    },
  };
};
