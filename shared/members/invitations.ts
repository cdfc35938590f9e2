import { hash, randomUUID } from 'node:crypto';
import type { Document, Filter } from 'mongodb';
import { requireAccount } from '../accounts/account-store.ts';
import { type DeveloperRecord, developerAccounts } from '../accounts/developers/developers.ts';
import { addressKeyOf } from '../accounts/email-tokens.ts';
import { isSecret, normalizeToken } from '../accounts/single-use-secrets.ts';
import { clock, dayAt, nowSeconds } from '../core/clock.ts';
import { AppError } from '../core/errors.ts';
import { viewOf } from '../core/view.ts';
import { type Reservation, refund, reserveOne } from '../persistence/counters.ts';
import { developerScope, itemKey, type Key, ownerKeyOf } from '../persistence/item-keys.ts';
import { write } from '../persistence/table.ts';
import * as kinds from '../persistence/table-keys.ts';
import { type InvitationRecord, type MemberRecord, type ProjectRecord, projectRecords } from '../projects/project.ts';
import { audited } from './audit.ts';

export const invitationDays = 7;

/** How many members a project can have besides its owner, open invitations included. */
export const maxMembers = 50;

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
