import { ObjectId } from 'mongodb';
import { clock } from '../../core/clock.ts';
import { AppError, type ErrorCode } from '../../core/errors.ts';
import { tryOrLog } from '../../core/log.ts';
import { withEffects } from '../../documents/store/effect-writes.ts';
import { insertChecked, requireInsertAccess } from '../../documents/store/insert.ts';
import type { Project } from '../../projects/project.ts';
import { isHooked, wakeWebhookWorker } from '../../webhooks/events.ts';
import { findById, requireAccount } from '../account-store.ts';
import { requireSession } from '../sessions.ts';
import { isSecret, normalizeToken, sha256 } from '../single-use-secrets.ts';
import type { Bearer } from '../tokens.ts';
import { type UserInvitationRecord, userInvitationRecords } from './invitation-records.ts';
import {
  collectionNamed,
  contextOf,
  invitationNotFound,
  invitedBody,
  openFields,
  receivingField,
  requireFree,
} from './invitations.ts';
import { userAccounts } from './users.ts';

/** Longer than a request takes. */
const claimMs = 60_000;

/** Claims an invitation by one conditional write: one of any number of concurrent requests gets it. */
const claim = async (project: Project, email: string, token: string): Promise<UserInvitationRecord | null> => {
  const now = clock.now();
  return userInvitationRecords.findOneAndUpdate(
    {
      tokenHash: sha256(token),
      projectId: new ObjectId(project.id),
      email,
      expiresAt: { $gt: new Date(now) },
      $or: [{ claimedAt: { $exists: false } }, { claimedAt: { $lte: new Date(now - claimMs) } }],
    },
    { $set: { claimedAt: new Date(now) } },
    { returnDocument: 'after' },
  );
};

/** Errors of the insert by which the inviter can no longer create the document. */
const noLongerAllowed: ReadonlySet<ErrorCode> = new Set([
  ...(['RULE_DENIED', 'RULE_LIMIT', 'RLS_REQUIRED', 'NOT_OWNER', 'FIELD_PROTECTED', 'MFA_REQUIRED'] as const),
  ...(['TOKEN_MISSING', 'COLLECTION_NOT_FOUND', 'VALIDATION_FAILED', 'INVALID_BODY', 'DOCUMENT_TOO_LARGE'] as const),
]);

/** An earlier request has created the document and was interrupted. */
const orUsed = (clash: AppError): never => {
  throw clash.errors?.[0]?.field === '_id' ? invitationNotFound() : clash;
};

const createInvited = async (project: Project, invitation: UserInvitationRecord, userId: string): Promise<void> => {
  const inviter = await findById(userAccounts(project), invitation.inviterId.toHexString());
  if (!inviter || inviter.isDisabled) throw invitationNotFound();
  const collection = await collectionNamed(project, invitation.collection);
  const userField = receivingField(collection, invitation.userField);
  const fields = await openFields(invitation);
  requireFree(collection, fields, userField);
  const context = contextOf(project, collection, inviter, invitation.mfa === true);
  await requireInsertAccess(context);
  const { body, owner } = invitedBody(collection, fields, userField, userId);
  const insert = () => insertChecked(context, body, { _id: invitation.documentId, owner, onClash: orUsed });
  await withEffects(context, ['create'], insert);
  if (collection.feed?.on && isHooked(project, 'document')) await wakeWebhookWorker(project.id);
};

/**
 * Creates the document of an invitation, one time. Throws 404 `INVITATION_NOT_FOUND` for an invalid token, for another or
 * an unverified address, and if the inviter could no longer create the document.
 */
export const acceptUserInvitation = async (
  project: Project,
  { userId, sessionId }: Bearer,
  copied: string,
): Promise<{ readonly collection: string; readonly _id: string }> => {
  const store = userAccounts(project);
  await requireSession(store.scope, userId, sessionId);
  const { email, emailVerified } = await requireAccount(store, userId);
  const token = normalizeToken(copied);
  if (email === undefined || emailVerified !== true || !isSecret(token)) throw invitationNotFound();
  const invitation = await claim(project, email, token);
  if (!invitation) throw invitationNotFound();
  const { _id, documentId, collection, claimedAt } = invitation;
  try {
    await createInvited(project, invitation, userId);
  } catch (error) {
    // The invitation works again if the inviter gets the rights back.
    await tryOrLog('warn', { message: 'An invitation stays claimed for a minute' }, () =>
      userInvitationRecords.updateOne({ _id, ...(claimedAt && { claimedAt }) }, { $unset: { claimedAt: '' } }),
    );
    throw error instanceof AppError && noLongerAllowed.has(error.code) ? invitationNotFound() : error;
  }
  await tryOrLog('warn', { message: 'A used invitation stays until it expires' }, () =>
    userInvitationRecords.deleteOne({ _id }),
  );
  return { collection, _id: documentId.toHexString() };
};
