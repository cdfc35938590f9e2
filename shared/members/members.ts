import { type Document, type Filter, ObjectId, type UpdateFilter } from 'mongodb';
import { requireAccount } from '../accounts/account-store.ts';
import { type DeveloperRecord, developerAccounts } from '../accounts/developers/developers.ts';
import { scopesOfRole } from '../accounts/developers/scopes.ts';
import { requireScopes, type TokenGrant } from '../accounts/developers/tokens.ts';
import { clock } from '../core/clock.ts';
import { AppError } from '../core/errors.ts';
import { idOf, type Page, type PageRequest, pageFrom } from '../core/values.ts';
import { changeProjectIf } from '../projects/change-project.ts';
import { emailsOf, type OwnedProject, roleIn } from '../projects/find-project.ts';
import {
  type InvitationRecord,
  includesRole,
  type MemberRecord,
  type MemberRole,
  type ProjectRecord,
  projectRecords,
} from '../projects/project.ts';
import { audited } from './audit.ts';
import { hashInvitationToken, type Invitation, invitationNotFound, toInvitation } from './invitations.ts';

/** The owner, then the members in the order they joined. */
export const listMembers = async ({ record }: OwnedProject, request: PageRequest) => {
  const all = [
    { developerId: record.ownerId, role: 'owner', addedAt: record.createdAt } as const,
    ...(record.members ?? []),
  ];
  const shown = pageFrom(all, request);
  const emails = await emailsOf(shown.items.map(({ developerId }) => developerId));
  const items = shown.items.map(({ developerId, role, addedAt }) => {
    const _id = developerId.toHexString();
    return { _id, email: emails.get(_id) ?? '', role, addedAt };
  });
  return { ...shown, items };
};

export const listInvitations = ({ record }: OwnedProject, request: PageRequest): Page<Invitation> => {
  const open = (record.invitations ?? []).filter(({ expiresAt }) => expiresAt.getTime() > clock.now()).reverse();
  return pageFrom(open.map(toInvitation), request);
};

const memberNotFound = (): AppError =>
  new AppError('MEMBER_NOT_FOUND', 'This developer is not a member of the project.');

/** Throws 409 `OWNER_STAYS` for the owner and 404 `MEMBER_NOT_FOUND`. */
const requireMemberId = ({ record }: OwnedProject, developerId: string): ObjectId => {
  const role = roleIn(record, developerId);
  if (role === 'owner')
    throw new AppError('OWNER_STAYS', "The project's owner cannot be removed or demoted. Delete the project instead.");
  if (role === undefined) throw memberNotFound();
  return new ObjectId(developerId);
};

/** Members who may no longer invite could otherwise return by their own invitations. */
const invitationsOf = (invitedBy: ObjectId) => ({ invitations: { invitedBy } });

/** A viewer's open invitations end. Errors: 404 `MEMBER_NOT_FOUND`, 409 `OWNER_STAYS`, 403 `SCOPE_REQUIRED`. */
export const updateMember = async (
  owned: OwnedProject,
  developerId: string,
  role: MemberRole,
  personalToken: TokenGrant | undefined,
): Promise<void> => {
  if (role === 'admin') requireScopes(personalToken, scopesOfRole(role));
  const id = requireMemberId(owned, developerId);
  const update = {
    $set: { 'members.$.role': role },
    ...(includesRole(role, 'admin') ? {} : { $pull: invitationsOf(id) }),
  } as UpdateFilter<ProjectRecord>;
  if (!(await changeProjectIf(owned, update, { 'members.developerId': id }))) throw memberNotFound();
};

/** Removing others requires an admin. Errors: 403 `ROLE_REQUIRED`, 404 `MEMBER_NOT_FOUND`, 409 `OWNER_STAYS`. */
export const deleteMember = async (owned: OwnedProject, developerId: string, by: string): Promise<void> => {
  if (developerId !== by && !includesRole(owned.role, 'admin')) {
    throw new AppError(
      'ROLE_REQUIRED',
      `To remove others, you need the role admin in the project. Yours is ${owned.role}.`,
    );
  }
  const id = requireMemberId(owned, developerId);
  const update = { $pull: { members: { developerId: id }, ...invitationsOf(id) } } as UpdateFilter<ProjectRecord>;
  if (!(await changeProjectIf(owned, update, { 'members.developerId': id }))) throw memberNotFound();
};

/** Throws 404 `INVITATION_NOT_FOUND`. */
export const deleteInvitation = async (owned: OwnedProject, invitationId: string): Promise<void> => {
  const _id = idOf(invitationId);
  const update = { $pull: { invitations: { _id } } } as UpdateFilter<ProjectRecord>;
  if (!_id || !(await changeProjectIf(owned, update, { 'invitations._id': _id }))) throw invitationNotFound();
};

/** The project with this open invitation, if the developer is not a member yet. */
const openInvitationFor = ({ _id, email }: DeveloperRecord, tokenHash: string): Filter<ProjectRecord> => ({
  invitations: {
    $elemMatch: { tokenHash: { $eq: tokenHash }, email: { $eq: email }, expiresAt: { $gt: new Date(clock.now()) } },
  },
  state: 'active',
  ownerId: { $ne: _id },
  'members.developerId': { $ne: _id },
});

/** One update turns the invitation into a member, so exactly one concurrent caller succeeds. */
const membershipChange = (member: MemberRecord, tokenHash: string): Document => ({
  members: { $concatArrays: [{ $ifNull: ['$members', []] }, [{ $literal: member }]] },
  invitations: {
    $filter: { input: '$invitations', as: 'open', cond: { $ne: ['$$open.tokenHash', tokenHash] } },
  },
});

const join = async (filter: Filter<ProjectRecord>, change: Document): Promise<void> => {
  const { matchedCount } = await projectRecords.updateOne(filter, [{ $set: change }]);
  if (matchedCount === 0) throw invitationNotFound();
};

/** Throws 404 `INVITATION_NOT_FOUND` for wrong, used, withdrawn, expired and other developers' invitations. */
export const acceptInvitation = async (developerId: string, token: string) => {
  const developer = await requireAccount(developerAccounts, developerId);
  const tokenHash = hashInvitationToken(token);
  if (tokenHash === undefined) throw invitationNotFound();
  const filter = openInvitationFor(developer, tokenHash);
  const project = await projectRecords.findOne(filter);
  const invitation = project?.invitations?.find((open: InvitationRecord) => open.tokenHash === tokenHash);
  if (!project || !invitation) throw invitationNotFound();
  const { role } = invitation;
  const projectId = project._id.toHexString();
  const change = membershipChange({ developerId: developer._id, role, addedAt: new Date(clock.now()) }, tokenHash);
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
