import { verifyDashboardToken } from '../../auth/dashboard-tokens.ts';
import { AppError } from '../../errors.ts';
import { currentRequest } from '../../log.ts';
import { findOwnedProject, type OwnedProject } from '../../projects/find-owned-project.ts';
import type { Adds } from './adds.ts';
import { bearerToken } from './bearer.ts';

export interface Developer {
  readonly developerId: string;
  readonly sessionId: string;
}

export interface WithDeveloper {
  developer: Developer;
}

export interface WithOwnedProject {
  owned: OwnedProject;
}

/** The developer whose dashboard token this is; none → 401 `TOKEN_MISSING`, bad or expired → 401 `TOKEN_INVALID`. */
export const developerToken = (): Adds<WithDeveloper> => ({
  before: async ({ event, context }) => {
    const token = bearerToken(event.headers);
    if (!token)
      throw new AppError('TOKEN_MISSING', 'Sign in first: this needs Authorization: Bearer <dashboard token>.');
    context.developer = await verifyDashboardToken(token);
  },
});

/** The project that the path names, if it is the developer's own; another's is as if it did not exist: 404. */
export const ownedProject = (): Adds<WithDeveloper & WithOwnedProject> => ({
  before: async ({ event, context }) => {
    const projectId = event.pathParameters?.projectId ?? '';
    const owned = await findOwnedProject(context.developer.developerId, projectId);
    if (!owned) throw new AppError('PROJECT_NOT_FOUND', 'Project not found');
    const record = currentRequest.getStore();
    if (record) record.projectId = owned.project.id;
    context.owned = owned;
  },
});
