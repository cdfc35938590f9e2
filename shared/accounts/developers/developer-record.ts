import type { IndexDescription } from 'mongodb';
import { inControl } from '../../clients/mongo.ts';
import { viewOf } from '../../core/view.ts';
import type { PlanName } from '../../projects/project.ts';
import type { AccountRecord } from '../account-store.ts';

export interface DeveloperRecord extends AccountRecord {
  readonly email: string;
  readonly passwordHash: string;
  readonly plan: PlanName;
  readonly emailVerified: boolean;
  /** When the account was deleted, or its removal failed last; it counts as gone from then on. */
  readonly deletingSince?: Date;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

const oneAccountEach = (name: string, key: string): IndexDescription => ({
  name,
  key: { [key]: 1 },
  unique: true,
  partialFilterExpression: { [key]: { $exists: true } },
});

/** Indexes of `control.developers`: one account an address, an identity and a passkey, whoever registers at once. */
export const developerIndexes: readonly IndexDescription[] = [
  { key: { email: 1 }, name: 'email', unique: true },
  oneAccountEach('identity', 'identities.key'),
  oneAccountEach('passkey', '_signIn.passkeys.id'),
  { key: { deletingSince: 1 }, name: 'deleting', sparse: true },
];

export const developerRecords = inControl<DeveloperRecord>('developers');

/** What developers see of themselves; never the hash. */
export type Developer = ReturnType<typeof toDeveloper>;

export const toDeveloper = (record: DeveloperRecord) => ({
  ...viewOf(record, ['_id', 'email', 'plan', 'emailVerified', 'createdAt']),
  secondFactor: record._signIn?.totp !== undefined,
});
