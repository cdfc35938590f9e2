import { hash } from 'node:crypto';
import type { Document, Filter } from 'mongodb';
import { requireAccount } from '../../accounts/account-store.ts';
import type { DeveloperRecord } from '../../accounts/developers/developer-record.ts';
import { isSecret } from '../../accounts/one-time-secrets.ts';
import { developerAccounts } from '../../accounts/stores/developers.ts';
import { clock } from '../../core/clock.ts';
import { AppError } from '../../core/errors.ts';
import { viewOf } from '../../core/view.ts';
import { audited } from '../audit/audited.ts';
import { type InvitationRecord, type MemberRecord, type ProjectRecord, projectRecords } from '../project-record.ts';

export const invitationDays = 7;

/** How many members a project can have besides its owner, open invitations included. */
export const maxMembers = 50;

/**
 * The form in which the token of an invitation is stored and looked up; `undefined` for anything that cannot be one.
 */
export const hashInvitationToken = (token: string): string | undefined =>
  isSecret(token) ? hash('sha256', token, 'hex') : undefined;

export type Invitation = ReturnType<typeof toInvitation>;

export const toInvitation = (record: InvitationRecord) =>
  viewOf(record, ['_id', 'email', 'role', 'invitedBy', 'createdAt', 'expiresAt']);

/** The one refusal of an invitation, whatever is wrong with it. */
export const noInvitation = (): AppError =>
  new AppError(
    'INVITATION_NOT_FOUND',
    'There is no such invitation for your address: it was used, withdrawn or has expired, or it is for somebody else.',
  );

/** Matches the project whose open invitation this is, for the developer it is addressed to, who is not in it yet. */
const openFor = ({ _id, email }: DeveloperRecord, tokenHash: string): Filter<ProjectRecord> => ({
  invitations: {
    $elemMatch: { tokenHash: { $eq: tokenHash }, email: { $eq: email }, expiresAt: { $gt: new Date(clock.now()) } },
  },
  state: 'active',
  ownerId: { $ne: _id },
  'members.developerId': { $ne: _id },
});

/** The invitation becomes a member, in one step of the database: of any number of parallel callers one does it. */
const joined = (member: MemberRecord, tokenHash: string): Document => ({
  members: { $concatArrays: [{ $ifNull: ['$members', []] }, [{ $literal: member }]] },
  invitations: {
    $filter: { input: '$invitations', as: 'open', cond: { $ne: ['$$open.tokenHash', tokenHash] } },
  },
});

const join = async (filter: Filter<ProjectRecord>, change: Document): Promise<void> => {
  const { matchedCount } = await projectRecords.updateOne(filter, [{ $set: change }]);
  if (matchedCount === 0) throw noInvitation();
};

/**
 * Makes the developer who asks a member of the project that an invitation to their own address is for. Wrong, used,
 * withdrawn and expired ones, and those for somebody else, are the same 404 `INVITATION_NOT_FOUND`.
 */
export const acceptInvitation = async (developerId: string, token: string) => {
  const developer = await requireAccount(developerAccounts, developerId);
  const tokenHash = hashInvitationToken(token);
  if (tokenHash === undefined) throw noInvitation();
  const filter = openFor(developer, tokenHash);
  const project = await projectRecords.findOne(filter);
  const invitation = project?.invitations?.find((open: InvitationRecord) => open.tokenHash === tokenHash);
  if (!project || !invitation) throw noInvitation();
  const { role } = invitation;
  const projectId = project._id.toHexString();
  const change = joined({ developerId: developer._id, role, addedAt: new Date(clock.now()) }, tokenHash);
  await audited(
    {
      projectId,
      developerId,
      tokenId: null,
      action: 'accept-invitation',
      target: { id: invitation._id.toHexString() },
      fields: [],
      values: [{ field: 'role', before: null, after: role }],
    },
    () => join({ ...filter, _id: project._id }, change),
  );
  return { projectId, name: project.name, role };
};
