import { revisionField } from '../../documents/revision.ts';
import { plainName } from '../../mail/sender.ts';
import type { Project } from '../../projects/project.ts';
import { enabledProviders } from '../../projects/social/registration.ts';
import { projectScope } from '../../table/item-key.ts';
import { issueAccessToken } from '../access-tokens.ts';
import { type AccountStore, accountStore, type MailOrigin } from '../account-store.ts';
import type { OpenWays } from '../another-way.ts';
import type { SigningStore } from '../sign-in.ts';
import { announcedAccounts } from '../users/announced-user.ts';
import { type UserRecord, userRecords } from '../users/user-record.ts';

/**
 * With the key that all share anybody could have our address say a name and lead to a site of theirs, so the name is a
 * plain one, and the site that of a developer who can be reached.
 */
const mailOrigin = (project: Project): MailOrigin => {
  const usingByok = project.sealedProviderApiKey !== null;
  return {
    project,
    siteName: usingByok ? project.name : plainName(project.name),
    siteUrl: usingByok || project.ownerVerified ? project.siteUrl : null,
    usingByok,
  };
};

/** The users of a project: `users` of its own database of ours, where an import may have left some in the trash. */
export const userAccounts = (project: Project): AccountStore<UserRecord> => {
  const kind = {
    scope: projectScope(project.id),
    hashField: 'password',
    mailOrigin: () => mailOrigin(project),
    hasCheckedSession: false,
    counts: { [revisionField]: 1 },
  } as const;
  const present = { condition: { isDeleted: { $ne: true } }, has: ({ isDeleted }: UserRecord) => isDeleted !== true };
  return announcedAccounts(project, accountStore(kind, present, userRecords(project)));
};

/** With what users of a project may sign in now. */
export const userWays = ({ signIn, socialProviders }: Project): OpenWays => ({
  ...signIn,
  providers: enabledProviders(socialProviders),
});

/** The same, signing access tokens with the project's own key. */
export const userSignIns = (project: Project): SigningStore<UserRecord> => ({
  ...userAccounts(project),
  issueToken: (bearer) => issueAccessToken(project, bearer),
});
