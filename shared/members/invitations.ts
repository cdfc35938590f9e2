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
import { viewOf } from '../core/values.ts';
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

/** Members other than the owner, open invitations included. */
const maxMembers = 50;

/** Stored form of a token; `undefined` if it is malformed. */
export const hashInvitationToken = (copied: string): string | undefined => {
  const token = normalizeToken(copied);
  return isSecret(token) ? hash('sha256', token, 'hex') : undefined;
};

export type Invitation = ReturnType<typeof toInvitation>;

export const toInvitation = (record: InvitationRecord) =>
  viewOf(record, ['_id', 'email', 'role', 'invitedBy', 'createdAt', 'expiresAt']);

/** The same error for every invalid invitation. */
export const invitationNotFound = (): AppError =>
  new AppError(
    'INVITATION_NOT_FOUND',
    'Invitation not found for your address. It was used, withdrawn, has expired, or is for another address.',
  );

const cooldownSeconds = 60;

const maxPerDay = 100;

/** Per UTC day, for emails whose text developers choose: protects the reputation of our address. */
export const serviceMailsPerDay = 2000;

/** Blocks an address for a minute. Returns how to unblock it. */
const blockAddress = async (email: string): Promise<() => Promise<unknown>> => {
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
    // The client repeats a write whose response was lost; the condition accepts the item of the first attempt.
    condition: 'attribute_not_exists(pk) OR issuedAt <= :earlier OR #call = :call',
    values: { earlier: now - cooldownSeconds, call },
  });
  if (done) {
    const change = 'SET issuedAt = :never';
    return () => write({ update: key, change, condition: '#call = :call', values: { never: 0, call } });
  }
  throw new AppError('RATE_LIMITED', 'This address was sent an invitation less than a minute ago. Retry in a minute.', {
    retryAfter: cooldownSeconds,
  });
};

export const serviceMailsKey = (day: string): Key => itemKey(kinds.serviceMails, developerScope, { day });

/** Throws 429 `RATE_LIMITED` if the day's limit is reached. */
export const countServiceMail = async (): Promise<Reservation> => {
  const today = dayAt(clock.now());
  const storeError = 'This service has reached its daily limit of invitations. Retry tomorrow (UTC).';
  return reserveOne(today, serviceMailsKey(today.name), { name: 'sent', limit: serviceMailsPerDay }, storeError);
};

/**
 * Limits: one email per address and minute, 100 per developer and day, and `serviceMailsPerDay`. Throws 429
 * `RATE_LIMITED`. Returns how to undo the counts.
 */
export const countInvitation = async (inviterEmail: string, email: string): Promise<() => Promise<unknown>> => {
  const letGo = await blockAddress(email);
  const today = dayAt(clock.now());
  const key = itemKey(kinds.invitations, developerScope, { ownerKey: ownerKeyOf(inviterEmail), day: today.name });
  const storeError = `You have sent ${maxPerDay} invitations today. Retry tomorrow.`;
  const ofInviter = await reserveOne(today, key, { name: 'sent', limit: maxPerDay }, storeError);
  const ofService = await countServiceMail();
  return () => Promise.all([letGo(), refund(ofInviter), refund(ofService)]);
};

interface NewInvitation {
  readonly email: string;
  readonly role: MemberRole;
}

interface Inviter {
  readonly developerId: string;
  readonly personalToken: TokenGrant | undefined;
  readonly sessionId?: string;
}

/** The email names the inviter, so the inviter's address must be verified. */
const requireVerified = ({ emailVerified }: DeveloperRecord): void => {
  if (emailVerified) return;
  throw new AppError(
    'EMAIL_NOT_VERIFIED',
    'Verify your email address before you invite others, because the invitation shows it. To get the email again, open Account in the console, or use POST /api/auth/resend-verification.',
  );
};

const requireNoMember = async ({ record }: OwnedProject, email: string): Promise<void> => {
  const invited = await findByEmail(developerAccounts, email);
  if (invited && roleIn(record, invited._id.toHexString())) {
    throw new AppError('MEMBER_EXISTS', 'This developer is already a member of the project.');
  }
};

const listOf = (field: string): Document => ({ $ifNull: [field, []] });

/** Evaluated by the database, so that concurrent calls count correctly. */
const othersOpen = ({ email, createdAt }: InvitationRecord): Document => ({
  $filter: {
    input: listOf('$invitations'),
    as: 'open',
    cond: { $and: [{ $ne: ['$$open.email', { $literal: email }] }, { $gt: ['$$open.expiresAt', createdAt] }] },
  },
});

/** Projects in which the developer is still owner or admin. */
const inviting = (inviter: ObjectId): Filter<ProjectRecord> => ({
  $or: [{ ownerId: inviter }, { members: { $elemMatch: { developerId: inviter, role: 'admin' } } }],
});

const storeError = async ({ record }: OwnedProject, inviter: ObjectId): Promise<AppError> => {
  const now = await findOwnedProject(inviter.toHexString(), record._id.toHexString());
  if (!now) return projectNotFound();
  return includesRole(now.role, 'admin')
    ? new AppError(
        'LIMIT_REACHED',
        `A project can have ${maxMembers} members, open invitations included. Remove one to invite another.`,
      )
    : new AppError('ROLE_REQUIRED', `To invite others, you need the role admin in the project. Yours is ${now.role}.`);
};

/** Replaces an earlier invitation to the same address. */
const store = async (owned: OwnedProject, invitation: InvitationRecord): Promise<void> => {
  const others = othersOpen(invitation);
  const taken = { $add: [{ $size: listOf('$members') }, { $size: others }] };
  const change = [{ $set: { invitations: { $concatArrays: [others, [{ $literal: invitation }]] } } }];
  const condition = { ...inviting(invitation.invitedBy), $expr: { $lt: [taken, maxMembers] } };
  if (!(await changeProjectIf(owned, change, condition))) throw await storeError(owned, invitation.invitedBy);
};

/** Withdraws the invitation if session or token ended meanwhile: it would survive a password reset. */
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
 * Emails a single-use token for 7 days. Errors: 403 `SCOPE_REQUIRED` if the personal token lacks a scope of the role,
 * 403 `EMAIL_NOT_VERIFIED`, 409 `MEMBER_EXISTS`, 403 `LIMIT_REACHED` over 50 members, 429 `RATE_LIMITED`.
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
  await requireNoMember(owned, address);
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
