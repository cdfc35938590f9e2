import { ObjectId, type UpdateFilter } from 'mongodb';
import { requireScopes, type TokenGrant } from '../accounts/developers/developers.ts';
import { scopesOfRole } from '../accounts/developers/scopes.ts';
import { clock } from '../core/clock.ts';
import { AppError } from '../core/errors.ts';
import { type Page, type PageRequest, pageFrom } from '../core/values.ts';
import { idOf } from '../core/view.ts';
import { changeProjectIf } from '../projects/change-project.ts';
import { emailsOf, type OwnedProject, roleIn } from '../projects/find-project.ts';
import { includesRole, type MemberRole, type ProjectRecord } from '../projects/project.ts';
import { type Invitation, noInvitation, toInvitation } from './invitations.ts';

/** A page of those who work in a project: its owner, then the members as they came. */
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

const noMember = (): AppError => new AppError('MEMBER_NOT_FOUND', 'This developer is not a member of the project.');

/** The id of a member; the owner → 409 `OWNER_STAYS`. */
const requireMemberId = ({ record }: OwnedProject, developerId: string): ObjectId => {
  const role = roleIn(record, developerId);
  if (role === 'owner')
    throw new AppError('OWNER_STAYS', "The project's owner cannot be removed or demoted. Delete the project instead.");
  if (role === undefined) throw noMember();
  return new ObjectId(developerId);
};

/** The `$pull` of the open invitations of someone who may no longer invite; otherwise they could use them to return. */
const invitationsOf = (invitedBy: ObjectId) => ({ invitations: { invitedBy } });

/**
 * From the member's next request on; a viewer's open invitations end too. Nobody's id → 404 `MEMBER_NOT_FOUND`; a
 * personal access token that makes an admin without every scope of one → 403 `SCOPE_REQUIRED`.
 */
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
  if (!(await changeProjectIf(owned, update, { 'members.developerId': id }))) throw noMember();
};

/** Removes a member with their open invitations; others than oneself takes an admin → 403 `ROLE_REQUIRED`. */
export const deleteMember = async (owned: OwnedProject, developerId: string, by: string): Promise<void> => {
  if (developerId !== by && !includesRole(owned.role, 'admin')) {
    throw new AppError(
      'ROLE_REQUIRED',
      `To remove others needs the role admin in the project; yours is ${owned.role}.`,
    );
  }
  const id = requireMemberId(owned, developerId);
  const update = { $pull: { members: { developerId: id }, ...invitationsOf(id) } } as UpdateFilter<ProjectRecord>;
  if (!(await changeProjectIf(owned, update, { 'members.developerId': id }))) throw noMember();
};

/** Withdraws an open invitation; unknown → 404 `INVITATION_NOT_FOUND`. */
export const deleteInvitation = async (owned: OwnedProject, invitationId: string): Promise<void> => {
  const _id = idOf(invitationId);
  const update = { $pull: { invitations: { _id } } } as UpdateFilter<ProjectRecord>;
  if (!_id || !(await changeProjectIf(owned, update, { 'invitations._id': _id }))) throw noInvitation();
};
