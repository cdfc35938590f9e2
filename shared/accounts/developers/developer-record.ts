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

/** Indexes of `control.developers`: one account an address and an identity, whoever registers at once. */
export const developerIndexes: readonly IndexDescription[] = [
  { key: { email: 1 }, name: 'email', unique: true },
  {
    key: { 'identities.key': 1 },
    name: 'identity',
    unique: true,
    partialFilterExpression: { 'identities.key': { $exists: true } },
  },
  { key: { deletingSince: 1 }, name: 'deleting', sparse: true },
];

export const onDevelopers = inControl<DeveloperRecord>('developers');

/** What developers see of themselves; never the hash. */
export type Developer = ReturnType<typeof toDeveloper>;

export const toDeveloper = (record: DeveloperRecord) => ({
  ...viewOf(record, ['_id', 'email', 'plan', 'emailVerified', 'createdAt']),
  secondFactor: record._signIn?.totp !== undefined,
});
