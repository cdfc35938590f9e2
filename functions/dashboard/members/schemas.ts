import * as v from 'valibot';
import { memberRoles } from '../../../shared/projects/project.ts';
import { accountFields } from '../../account-fields.ts';
import { strictBody, success } from '../../schemas.ts';
import { pageOf } from '../schemas.ts';

const text = v.string('must be a String');
const MemberRole = v.picklist(memberRoles, `must be ${memberRoles.join(' or ')}`);

export const NewInvitationBody = strictBody({ email: accountFields.email, role: MemberRole });
export const MemberChangesBody = strictBody({ role: MemberRole });
export const AcceptBody = strictBody({ token: text });

const Member = v.object({
  _id: v.string(),
  email: v.string(),
  role: v.picklist([...memberRoles, 'owner']),
  addedAt: v.date(),
});

const Invitation = v.object({
  _id: v.string(),
  email: v.string(),
  role: MemberRole,
  invitedBy: v.string(),
  createdAt: v.date(),
  expiresAt: v.date(),
});

export const MemberPage = pageOf(Member);
export const InvitationPage = pageOf(Invitation);
/** The token is only in the email. */
export const InvitationAnswer = success(Invitation);
export const ChangedMemberAnswer = success(v.object({ _id: v.string(), role: MemberRole }));
export const MembershipAnswer = success(v.object({ projectId: v.string(), name: v.string(), role: MemberRole }));
