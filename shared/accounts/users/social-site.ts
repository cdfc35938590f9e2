import { findProjectById } from '../../projects/find-project-by-id.ts';
import type { Project } from '../../projects/project.ts';
import { projectScope } from '../session-keys.ts';
import { clientCredentials, requireApp } from '../social/client-credentials.ts';
import { outdated, type SocialReturn } from '../social/finish-sign-in.ts';
import type { SocialSite } from '../social/start-sign-in.ts';
import { projectOfState } from '../social/state.ts';
import { userSignIns } from '../stores/users.ts';
import { createAccount } from './create-account.ts';
import { requireUsers } from './require-users.ts';
import type { UserRecord } from './user-record.ts';

/** Where users of a project begin to sign in: with accounts and the provider enabled. */
export const userSite = (project: Project): SocialSite => ({
  scope: projectScope(project.id),
  siteUrl: project.siteUrl,
  app: async (provider) => {
    await requireUsers(project);
    return requireApp(project, provider);
  },
});

/** Where they end: at the project that a state says it belongs to. A state that none can be read from → 400. */
export const userReturn = async (state: string): Promise<SocialReturn<UserRecord>> => {
  const projectId = projectOfState(state);
  const project = projectId === undefined ? undefined : await findProjectById(projectId);
  if (!project) throw outdated();
  return {
    store: userSignIns(project),
    siteUrl: project.siteUrl,
    credentials: (provider) => clientCredentials(project, provider),
    opening: async () => {
      const users = await requireUsers(project);
      return (newcomer) => createAccount(project, users, newcomer);
    },
    told: ({ account, isNew }) => ({
      projectId: project.id,
      userId: account._id.toHexString(),
      isNewUser: String(isNew),
    }),
  };
};
