import { type IndexDescription, ObjectId } from 'mongodb';
import { inControl } from '../../persistence/mongo.ts';
import type { Project } from '../../projects/project.ts';

/** A pending invitation of a user to a document. Only the SHA-256 of its token is stored. */
export interface UserInvitationRecord {
  readonly _id: ObjectId;
  readonly projectId: ObjectId;
  readonly inviterId: ObjectId;
  /** The inviter signed in with a second factor. */
  readonly mfa?: true;
  /** Canonical. */
  readonly email: string;
  readonly tokenHash: string;
  readonly collection: string;
  /** Receives the id of the user who accepts. */
  readonly userField: string;
  /** The fields of the document as JSON, sealed to the id of the invitation. */
  readonly sealedFields: string;
  /** The id of the document, so that no second one can be created. */
  readonly documentId: ObjectId;
  /** A request is accepting it, or was interrupted. */
  readonly claimedAt?: Date;
  readonly expiresAt: Date;
}

export const userInvitationRecords = inControl<UserInvitationRecord>('userInvitations');

export const userInvitationIndexes: readonly IndexDescription[] = [
  { key: { tokenHash: 1 }, name: 'token', unique: true },
  { key: { projectId: 1, inviterId: 1, _id: -1 }, name: 'inviter' },
  { key: { expiresAt: 1 }, name: 'expiry', expireAfterSeconds: 0 },
];

/** Removes what a user has sent, when the account is deleted. */
export const removeInvitationsOf = async ({ id }: Pick<Project, 'id'>, inviterId: ObjectId): Promise<void> => {
  await userInvitationRecords.deleteMany({ projectId: new ObjectId(id), inviterId });
};
