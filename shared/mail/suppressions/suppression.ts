import { type Collection, type IndexDescription, ObjectId } from 'mongodb';
import { onControl } from '../../clients/mongo.ts';

/** Why an address gets no more mail: it does not take any, or its owner called a mail spam. */
export type SuppressionReason = 'bounced' | 'complained';

/** A document of `control.mailSuppressions`: an address that a project's mails leave out. */
export interface Suppression {
  readonly _id: ObjectId;
  readonly projectId: ObjectId;
  /** As `canonicalAddress` writes it. */
  readonly email: string;
  readonly reason: SuppressionReason;
  /** The provider's id of the mail that bounced or was complained about. */
  readonly providerEmailId: string | null;
  readonly createdAt: Date;
}

/** One record an address and project, however many events name it at once; lists come newest first. */
export const suppressionIndexes: readonly IndexDescription[] = [
  { key: { projectId: 1, email: 1 }, name: 'email', unique: true },
  { key: { projectId: 1, _id: -1 }, name: 'newest' },
];

/** Runs an operation on `control.mailSuppressions`. */
export const onSuppressions = <T>(operation: (suppressions: Collection<Suppression>) => Promise<T>): Promise<T> =>
  onControl((db) => operation(db.collection<Suppression>('mailSuppressions')));

/**
 * The form in which addresses are compared: what stands between the brackets of `Name <address>`, trimmed, lower case.
 */
export const canonicalAddress = (address: string): string =>
  (/<([^<>]*)>\s*$/.exec(address)?.[1] ?? address).trim().toLowerCase();

/** The suppressions of one project, and of one address where it is given. */
export const suppressionsOf = (projectId: string, email?: string) => ({
  projectId: new ObjectId(projectId),
  ...(email === undefined ? {} : { email: { $eq: canonicalAddress(email) } }),
});
