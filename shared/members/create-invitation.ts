import { type Document, type Filter, ObjectId } from 'mongodb';
import { findByEmail, requireAccount } from '../accounts/account-store.ts';
import {
  type DeveloperRecord,
  developerAccounts,
  requireScopes,
  requireToken,
  type TokenGrant,
} from '../accounts/developers/developers.ts';
import { scopesOfRole } from '../accounts/developers/scopes.ts';
import { linkTo } from '../accounts/email-proofs.ts';
import { checkEmail } from '../accounts/email-tokens.ts';
import { requireSession } from '../accounts/sessions.ts';
import { randomSecret } from '../accounts/single-use-secrets.ts';
import { clock, dayMs } from '../core/clock.ts';
import { dashboardSettings, serviceName } from '../core/config.ts';
import { AppError } from '../core/errors.ts';
import { newId } from '../core/ids.ts';
import { tryOrLog } from '../core/log.ts';
import { plainName } from '../mail/content.ts';
import { queueServiceMail } from '../mail/send.ts';
import { invitationTemplate } from '../mail/templates/built-in.ts';
import { developerScope } from '../persistence/item-keys.ts';
import { changeProjectIf, projectNotFound } from '../projects/change-project.ts';
import { findOwnedProject, type OwnedProject, roleIn } from '../projects/find-project.ts';
import {
  type InvitationRecord,
  includesRole,
  type MemberRole,
  type ProjectRecord,
  projectRecords,
} from '../projects/project.ts';
import {
  countInvitation,
  hashInvitationToken,
  type Invitation,
  invitationDays,
  maxMembers,
  toInvitation,
} from './invitations.ts';

interface NewInvitation {
  readonly email: string;
  readonly role: MemberRole;
}

interface Inviter {
  /** 24 hex characters. */
  readonly developerId: string;
  /** The personal access token of the request; `undefined` if the inviter is signed in. */
  readonly personalToken: TokenGrant | undefined;
  /** The session of an inviter who is signed in. */
  readonly sessionId?: string;
}

/** The mail names its inviter, so only who has proved to own that address invites. */
const requireVerified = ({ emailVerified }: DeveloperRecord): void => {
  if (emailVerified) return;
  throw new AppError(
    'EMAIL_NOT_VERIFIED',
    'Verify your email address before you invite others, because the invitation shows it. To get the email again, use POST /api/auth/resend-verification.',
  );
};

/** Who cannot be invited: whoever is in the project already. */
const refuseMember = async ({ record }: OwnedProject, email: string): Promise<void> => {
  const invited = await findByEmail(developerAccounts, email);
  if (invited && roleIn(record, invited._id.toHexString())) {
    throw new AppError('MEMBER_EXISTS', 'This developer is already a member of the project.');
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

/** Projects in which this developer may still invite: someone being removed leaves no invitation behind. */
const inviting = (inviter: ObjectId): Filter<ProjectRecord> => ({
  $or: [{ ownerId: inviter }, { members: { $elemMatch: { developerId: inviter, role: 'admin' } } }],
});

/** Why an invitation was not stored. */
const refusal = async ({ record }: OwnedProject, inviter: ObjectId): Promise<AppError> => {
  const now = await findOwnedProject(inviter.toHexString(), record._id.toHexString());
  if (!now) return projectNotFound();
  return includesRole(now.role, 'admin')
    ? new AppError(
        'LIMIT_REACHED',
        `A project can have ${maxMembers} members, open invitations included. Remove one to invite another.`,
      )
    : new AppError('ROLE_REQUIRED', `To invite others needs the role admin in the project; yours is ${now.role}.`);
};

/** In place of an earlier one to the same address; never more than the project can have members. */
const store = async (owned: OwnedProject, invitation: InvitationRecord): Promise<void> => {
  const others = othersOpen(invitation);
  const taken = { $add: [{ $size: listOf('$members') }, { $size: others }] };
  const change = [{ $set: { invitations: { $concatArrays: [others, [{ $literal: invitation }]] } } }];
  const condition = { ...inviting(invitation.invitedBy), $expr: { $lt: [taken, maxMembers] } };
  if (!(await changeProjectIf(owned, change, condition))) throw await refusal(owned, invitation.invitedBy);
};

/** Withdraws an invitation if the session or token ended while it was made: it would survive a password reset. */
const keepIfSignedIn = async (
  { record }: OwnedProject,
  { _id }: InvitationRecord,
  { developerId, personalToken, sessionId }: Inviter,
): Promise<void> => {
  try {
    if (personalToken) await requireToken(personalToken);
    else if (sessionId !== undefined) await requireSession(developerScope, developerId, sessionId);
  } catch (error) {
    await projectRecords.updateOne({ _id: record._id }, { $pull: { invitations: { _id } } });
    throw error;
  }
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
    variables: {
      inviter: inviter.email,
      project: plainName(project.name) || project.id,
      role,
      days: String(invitationDays),
      token,
      link,
    },
  });
};

/**
 * Invites whoever has an address by a mail with a token for 7 days and one use, in place of an earlier one. A personal
 * access token without every scope of the role → 403 `SCOPE_REQUIRED`; inviter's address not verified → 403 `EMAIL_NOT_VERIFIED`; in the project already → 409 `MEMBER_EXISTS`; 50 members and
 * invitations → 403 `LIMIT_REACHED`; a second mail within the minute, or too many a day → 429.
 */
export const createInvitation = async (
  owned: OwnedProject,
  by: Inviter,
  { email, role }: NewInvitation,
): Promise<Invitation> => {
  const { developerId: inviterId, personalToken } = by;
  requireScopes(personalToken, scopesOfRole(role));
  const address = checkEmail(email);
  const inviter = await requireAccount(developerAccounts, inviterId);
  requireVerified(inviter);
  await refuseMember(owned, address);
  const uncount = await countInvitation(inviter.email, address);
  const token = randomSecret();
  const now = clock.now();
  const invitation: InvitationRecord = {
    _id: newId(),
    email: address,
    role,
    tokenHash: hashInvitationToken(token) ?? '',
    invitedBy: inviter._id,
    ...(personalToken && { tokenId: new ObjectId(personalToken.tokenId) }),
    createdAt: new Date(now),
    expiresAt: new Date(now + invitationDays * dayMs),
  };
  await store(owned, invitation);
  try {
    await keepIfSignedIn(owned, invitation, by);
    await send(owned, inviter, invitation, token);
  } catch (error) {
    await tryOrLog('warn', { message: 'An invitation that was not sent stays counted' }, uncount);
    throw error;
  }
  return toInvitation(invitation);
};
