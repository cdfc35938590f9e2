import { ownSites } from './allowed-origin.ts';
import type { ProjectView } from './project-view.ts';
import type { ProjectChanges } from './settings.ts';

/** The settings that say whether accounts are on and which pages are the project's own. */
const concerned = ['authEnabled', 'siteUrl', 'allowedDomains'] as const;

const withoutSite =
  'siteUrl is not set: mails of user accounts carry a code and no link, and social sign-in is refused. Set siteUrl.';

const withoutPages =
  'siteUrl is not set: no page of another origin gets a refresh cookie, mails of user accounts carry a code and no link, and social sign-in is refused. Set siteUrl; an exact origin in allowedDomains does for the cookie.';

/**
 * What user accounts still lack after these changes of a project, in words for its developer; `undefined` where they
 * are off, lack nothing, or the changes do not concern them.
 */
export const accountHints = (
  changes: Pick<ProjectChanges, (typeof concerned)[number]>,
  project: Pick<ProjectView, (typeof concerned)[number]>,
): readonly string[] | undefined => {
  const isConcerned = concerned.some((name) => changes[name] !== undefined);
  if (!isConcerned || !project.authEnabled || project.siteUrl !== null) return undefined;
  return [ownSites(project).length > 0 ? withoutSite : withoutPages];
};
