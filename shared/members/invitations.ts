import { hash, randomUUID } from 'node:crypto';
import { type Document, type Filter, ObjectId } from 'mongodb';
import { findByEmail, requireAccount } from '../accounts/account-store.ts';
import { type DeveloperRecord, developerAccounts } from '../accounts/developers/developers.ts';
import { scopesOfRole } from '../accounts/developers/scopes.ts';
import { requireScopes, requireToken, type TokenGrant } from '../accounts/developers/tokens.ts';
import { linkTo } from '../accounts/email-proofs.ts';
import { addressKeyOf, checkEmail } from '../accounts/email-tokens.ts';
import { requireSession } from '../accounts/sessions.ts';
import { isSecret, normalizeToken, randomSecret } from '../accounts/single-use-secrets.ts';
import { clock, dayAt, dayMs, nowSeconds } from '../core/clock.ts';
import { dashboardSettings, serviceName } from '../core/config.ts';
import { AppError } from '../core/errors.ts';
import { newId } from '../core/ids.ts';
import { tryOrLog } from '../core/log.ts';
import { viewOf } from '../core/view.ts';
import { plainName } from '../mail/content.ts';
import { queueServiceMail } from '../mail/send.ts';
import { invitationTemplate } from '../mail/templates/built-in.ts';
import { type Reservation, refund, reserveOne } from '../persistence/counters.ts';
import { developerScope, itemKey, type Key, ownerKeyOf } from '../persistence/item-keys.ts';
import { write } from '../persistence/table.ts';
import * as kinds from '../persistence/table-keys.ts';
import { changeProjectIf, projectNotFound } from '../projects/change-project.ts';
import { findOwnedProject, type OwnedProject, roleIn } from '../projects/find-project.ts';
import {
  type InvitationRecord,
  includesRole,
  type MemberRole,
  type ProjectRecord,
  projectRecords,
} from '../projects/project.ts';

const invitationDays = 7;

/** How many members a project can have besides its owner, open invitations included. */
const maxMembers = 50;

/**
 * The form in which the token of an invitation is stored and looked up; `undefined` for anything that cannot be one.
 */
export const hashInvitationToken = (copied: string): string | undefined => {
  const token = normalizeToken(copied);
  return isSecret(token) ? hash('sha256', token, 'hex') : undefined;
};

export type Invitation = ReturnType<typeof toInvitation>;

export const toInvitation = (record: InvitationRecord) =>
  viewOf(record, ['_id', 'email', 'role', 'invitedBy', 'createdAt', 'expiresAt']);

/** The one refusal of an invitation, whatever is wrong with it. */
export const noInvitation = (): AppError =>
  new AppError(
    'INVITATION_NOT_FOUND',
    'Invitation not found for your address. It was used, withdrawn, has expired, or is for another address.',
  );

const cooldownSeconds = 60;

const maxPerDay = 100;

/**
 * Mails with words of developers' choice that the service sends a day (UTC) from its own address: its reputation, and
 * the pace of everybody's other mails, shall not hang on how many accounts somebody opens.
 */
export const serviceMailsPerDay = 2000;

/** Holds an address for a minute; returns how to let go of it. */
const holdAddress = async (email: string): Promise<() => Promise<unknown>> => {
  const now = nowSeconds();
  const call = randomUUID();
  const key = itemKey(kinds.invited, developerScope, { addressKey: addressKeyOf(email) });
  const { done } = await write({
    put: {
      ...key,
      issuedAt: now,
      expiresAt: now + cooldownSeconds,
      call,
    },
    // The client repeats a write whose response was lost; the condition accepts the item that the first one wrote.
    condition: 'attribute_not_exists(pk) OR issuedAt <= :earlier OR #call = :call',
    values: { earlier: now - cooldownSeconds, call },
  });
  if (done) {
    const change = 'SET issuedAt = :never';
    return () => write({ update: key, change, condition: '#call = :call', values: { never: 0, call } });
  }
  throw new AppError(
    'RATE_LIMITED',
    'This address was sent an invitation less than a minute ago. Try again in a minute.',
    { retryAfter: cooldownSeconds },
  );
};

/** The key of what counts the service's mails of a day, `yyyy-mm-dd`. */
export const serviceMailsKey = (day: string): Key => itemKey(kinds.serviceMails, developerScope, { day });

/** Counts a mail with words of developers' choice, by one conditional write; the day is full → 429 `RATE_LIMITED`. */
export const countServiceMail = async (): Promise<Reservation> => {
  const today = dayAt(clock.now());
  const refusal = 'This service has sent all the invitations of a day. Try again tomorrow (UTC).';
  return reserveOne(today, serviceMailsKey(today.name), { name: 'sent', limit: serviceMailsPerDay }, refusal);
};

/**
 * One invitation mail per address and minute, whoever sends it, 100 per developer and day, whichever account they have
 * with their address, and `serviceMailsPerDay`. Over any → 429 `RATE_LIMITED`, by one conditional write each. Returns
 * how to give all of it back, for a mail that is not sent.
 */
export const countInvitation = async (inviterEmail: string, email: string): Promise<() => Promise<unknown>> => {
  const letGo = await holdAddress(email);
  const today = dayAt(clock.now());
  const key = itemKey(kinds.invitations, developerScope, { ownerKey: ownerKeyOf(inviterEmail), day: today.name });
  const refusal = `You have sent ${maxPerDay} invitations today. Try again tomorrow.`;
  const ofInviter = await reserveOne(today, key, { name: 'sent', limit: maxPerDay }, refusal);
  const ofService = await countServiceMail();
  return () => Promise.all([letGo(), refund(ofInviter), refund(ofService)]);
};

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
