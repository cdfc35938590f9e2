import {
  isPersonalToken,
  requireScopes,
  type TokenGrant,
  verifyPersonalToken,
} from '../../accounts/developers/tokens.ts';
import { requireSession } from '../../accounts/sessions.ts';
import { type Bearer, verifyDashboardToken } from '../../accounts/tokens.ts';
import { AppError } from '../../core/errors.ts';
import { currentRequest } from '../../core/request.ts';
import { developerScope } from '../../persistence/item-keys.ts';
import { findOwnedProject, findOwner, loadOwner, type OwnedProject } from '../../projects/find-project.ts';
import { includesRole, type Role } from '../../projects/project.ts';
import { isRead, type Route, scopesOf } from '../route.ts';
import type { Event, Middleware } from '../stack.ts';
import { bearerToken } from './api-key.ts';

interface DeveloperCaller {
  readonly developerId: string;
  readonly personalToken: TokenGrant | undefined;
  readonly sessionId?: string;
}

export interface WithDeveloper {
  readonly developer: DeveloperCaller;
}

interface WithSignedIn {
  readonly signedIn: Bearer;
}

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

/** Throws if the token lacks a scope of the route, or is limited to some projects and the route is outside projects. */
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
 * Returns the signed-in developer. An access token outlives its session by up to 15 minutes, so routes that change
 * something also check that the session still exists.
 */
const signedInBy = async (token: string, route: Route): Promise<Bearer> => {
  const bearer = await verifyDashboardToken(token);
  if (!isRead(route)) await requireSession(developerScope, bearer.userId, bearer.sessionId);
  return bearer;
};

/**
 * Adds the developer of a session or personal access token. Throws 401 `TOKEN_MISSING` or `TOKEN_INVALID`, and 403
 * `SCOPE_REQUIRED` for a personal access token without the route's scopes.
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

/** Throws 403 `SCOPE_REQUIRED` for a personal access token. */
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

/** The lowest role that may call a route below a project. */
export const roleFor = (route: Route): Role => route.role ?? (isRead(route) ? 'viewer' : 'admin');

const requireRole = (role: Role, needed: Role): void => {
  if (includesRole(role, needed)) return;
  throw new AppError('ROLE_REQUIRED', `This needs the role ${needed} in the project; yours is ${role}.`);
};

/**
 * Adds the project in the path. Throws 404 if the developer is not a member or the token excludes the project, 403
 * `ROLE_REQUIRED` for a role that is too low.
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
