import { passkeyIndex } from '../../collections/indexes/indexes.ts';
import type { Project } from '../../projects/project.ts';
import { relyingParty } from '../passkeys/relying-party.ts';
import { startRegistration } from '../passkeys/start-registration.ts';
import type { Bearer } from '../session-jwt.ts';
import { userAccounts } from '../stores/users.ts';
import { userRecords } from './user-record.ts';

/** What a browser makes a passkey of for a user, in a collection that may be older than passkeys are. */
export const startUserRegistration = async (project: Project, bearer: Bearer) => {
  const options = await startRegistration(userAccounts(project), relyingParty(project), bearer);
  await userRecords(project).on((users) => users.createIndexes([passkeyIndex]));
  return options;
};
