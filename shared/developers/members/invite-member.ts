import { type Document, ObjectId } from 'mongodb';
import { checkEmail } from '../../auth/email.ts';
import { linkTo } from '../../auth/email-tokens/send-email-token.ts';
import { onControl } from '../../clients/mongo.ts';
import { clock } from '../../clock.ts';
import { dashboardSettings } from '../../config.ts';
import { AppError } from '../../errors.ts';
import { queueServiceMail } from '../../mail/queue-service-mail.ts';
import { invitationTemplate } from '../../mail/templates/invitation.ts';
import { type OwnedProject, roleIn } from '../../projects/find-owned-project.ts';
import type { InvitationRecord, ProjectRecord } from '../../projects/project-record.ts';
import type { MemberRole } from '../../projects/roles.ts';
import type { DeveloperRecord } from '../developer-record.ts';
import { serviceName } from '../email-tokens.ts';
import { findDeveloperRecord, getDeveloperRecord } from '../find-developer.ts';
import {
  hashInvitationToken,
  type Invitation,
  invitationDays,
  mostMembers,
  newInvitationToken,
  toInvitation,
} from './invitation.ts';
import { countInvitation } from './invitation-limits.ts';

export interface NewInvitation {
  readonly email: string;
  readonly role: MemberRole;
}

const dayMs = 86_400_000;

/** Who cannot be invited: whoever is in the project already. */
const refuseMember = async ({ record }: OwnedProject, email: string): Promise<void> => {
  const invited = await findDeveloperRecord({ email: { $eq: email } });
  if (invited && roleIn(record, invited._id.toHexString())) {
    throw new AppError('MEMBER_EXISTS', 'This developer is in the project already.');
  }
};

const listOf = (field: string): Document => ({ $ifNull: [field, []] });

/** The other invitations that are open, in terms of the database, so that parallel calls count what there is. */
const othersOpen = ({ email, createdAt }: InvitationRecord): Document => ({
  $filter: {
    input: listOf('$invitations'),
    as: 'open',
    cond: { $and: [{ $ne: ['$$open.email', { $literal: email }] }, { $gt: ['$$open.expiresAt', createdAt] }] },
  },
});

/** Stores an invitation in place of an earlier one to the same address; never more than the project can have members. */
const store = async ({ record }: OwnedProject, invitation: InvitationRecord): Promise<void> => {
  const others = othersOpen(invitation);
  const taken = { $add: [{ $size: listOf('$members') }, { $size: others }] };
  const { matchedCount } = await onControl((db) =>
    db
      .collection<ProjectRecord>('projects')
      .updateOne({ _id: record._id, state: 'active', $expr: { $lt: [taken, mostMembers] } }, [
        { $set: { invitations: { $concatArrays: [others, [{ $literal: invitation }]] } } },
      ]),
  );
  if (matchedCount > 0) return;
  throw new AppError(
    'LIMIT_REACHED',
    `A project can have ${mostMembers} members, open invitations included. Remove one to invite another.`,
  );
};

const send = async (
  { project }: OwnedProject,
  inviter: DeveloperRecord,
  { email, role }: InvitationRecord,
  token: string,
): Promise<void> => {
  const link = linkTo(dashboardSettings().DASHBOARD_URL ?? null, 'invitations/accept', token);
  await queueServiceMail({
    to: email,
    template: { ...invitationTemplate, siteName: serviceName },
    variables: { inviter: inviter.email, project: project.name, role, days: String(invitationDays), token, link },
  });
};

/**
 * Invites whoever has an address to a project by a mail with a token for 7 days and one use; an earlier invitation of the address
 * is replaced. In the project already → 409 `MEMBER_EXISTS`; 50 members and invitations → 403 `LIMIT_REACHED`; a second mail within
 * the minute → 429.
 */
export const inviteMember = async (
  owned: OwnedProject,
  inviterId: string,
  { email, role }: NewInvitation,
): Promise<Invitation> => {
  const address = checkEmail(email);
  const inviter = await getDeveloperRecord(inviterId);
  await refuseMember(owned, address);
  await countInvitation(inviterId, address);
  const token = newInvitationToken();
  const now = clock.now();
  const invitation: InvitationRecord = {
    _id: new ObjectId(),
    email: address,
    role,
    tokenHash: hashInvitationToken(token) ?? '',
    invitedBy: inviter._id,
    createdAt: new Date(now),
    expiresAt: new Date(now + invitationDays * dayMs),
  };
  await store(owned, invitation);
  await send(owned, inviter, invitation, token);
  return toInvitation(invitation);
};
