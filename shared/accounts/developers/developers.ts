import { randomBytes } from 'node:crypto';
import type { IndexDescription } from 'mongodb';
import { clock } from '../../core/clock.ts';
import { dashboardSettings, serviceName, signupSettings } from '../../core/config.ts';
import { AppError } from '../../core/errors.ts';
import { newId } from '../../core/ids.ts';
import { onDuplicateKey } from '../../core/retry.ts';
import { viewOf } from '../../core/values.ts';
import { developerScope } from '../../persistence/item-keys.ts';
import { inControl } from '../../persistence/mongo.ts';
import type { PlanName } from '../../projects/project.ts';
import { type AccountRecord, type AccountStore, accountStore } from '../account-store.ts';
import type { Credentials } from '../credentials.ts';
import { canonicalEmail, checkEmail } from '../email-tokens.ts';
import type { Client } from '../sessions.ts';
import {
  type AddressedAccount,
  accountWithPassword,
  checkCredentials,
  type SignIn,
  type SigningStore,
  signUp,
} from '../sign-in.ts';
import type { OpenMethods } from '../step-up.ts';
import { issueDashboardToken } from '../tokens.ts';
import { endLeftAccess } from './tokens.ts';

export interface DeveloperRecord extends AccountRecord {
  readonly email: string;
  readonly passwordHash: string;
  readonly plan: PlanName;
  readonly emailVerified: boolean;
  /** Time of the deletion, or of the last failed removal. */
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

/** The unique indexes decide between concurrent registrations. */
export const developerIndexes: readonly IndexDescription[] = [
  { key: { email: 1 }, name: 'email', unique: true },
  oneAccountEach('identity', 'identities.key'),
  oneAccountEach('passkey', '_signIn.passkeys.id'),
  { key: { deletingSince: 1 }, name: 'deleting', sparse: true },
];

export const developerRecords = inControl<DeveloperRecord>('developers');

export const toDeveloper = (record: DeveloperRecord) => ({
  ...viewOf(record, ['_id', 'email', 'plan', 'emailVerified', 'createdAt']),
  secondFactor: record._signIn?.totp !== undefined,
});

/** Developers in `control.developers`; deleted ones are invisible until they are removed. */
export const developerAccounts: AccountStore<DeveloperRecord> = accountStore<DeveloperRecord>(
  {
    scope: developerScope,
    hashField: 'passwordHash',
    mailOrigin: () => ({ project: null, siteName: serviceName, siteUrl: dashboardSettings().DASHBOARD_URL ?? null }),
    hasCheckedSession: true,
    revokeTokens: endLeftAccess,
  },
  { condition: { deletingSince: { $exists: false } }, has: ({ deletingSince }) => deletingSince === undefined },
  developerRecords,
);

export const developerSignInMethods = (): OpenMethods => ({
  password: true,
  emailCode: true,
  anonymous: false,
  passkey: true,
  secondFactor: 'optional',
  providers: dashboardSettings().DASHBOARD_GITHUB_CLIENT_ID ? ['github'] : [],
});

export const developerSignIns = (): SigningStore<DeveloperRecord> => ({
  ...developerAccounts,
  issueToken: (bearer) => issueDashboardToken(bearer),
});

/** Throws 403 `SIGNUP_DISABLED` if only the operator creates accounts. */
export const requireOpenSignup = (): void => {
  if (signupSettings().DEVELOPER_SIGNUP === 'open') return;
  throw new AppError('SIGNUP_DISABLED', 'Sign-up is closed. Ask the operator of this service for an account.');
};

/** Stores a developer on the free plan. Throws 409 `DEVELOPER_EXISTS` if address or identity is taken. */
export const insertDeveloper = async (account: AddressedAccount): Promise<DeveloperRecord> => {
  const now = new Date(clock.now());
  const record: DeveloperRecord = {
    _id: newId(),
    ...account,
    credentialVersion: 0,
    plan: 'free',
    createdAt: now,
    updatedAt: now,
  };
  await onDuplicateKey(developerRecords.insertOne(record), (cause) => {
    const message = 'An account with this email address already exists. Sign in instead.';
    throw new AppError('DEVELOPER_EXISTS', message, { cause });
  });
  return record;
};

/** Errors: 403 `SIGNUP_DISABLED`, 409 `DEVELOPER_EXISTS`, 400 `VALIDATION_FAILED`. */
export const signUpDeveloper = async (credentials: Credentials, client: Client): Promise<SignIn<DeveloperRecord>> => {
  requireOpenSignup();
  return signUp(developerSignIns(), checkCredentials(credentials), insertDeveloper, client);
};

/** 96 random bits. */
const newPassword = (): string => randomBytes(12).toString('base64url');

/** For operators, even if registration is closed. Errors: `DEVELOPER_EXISTS`, `VALIDATION_FAILED`. */
export const addDeveloper = async (address: string): Promise<Credentials> => {
  const credentials = { email: checkEmail(address), password: newPassword() };
  await insertDeveloper(await accountWithPassword(credentials));
  return credentials;
};

/** For operators. Throws `NOT_FOUND`. */
export const setPlan = async (email: string, plan: PlanName): Promise<void> => {
  const isSet = await developerAccounts.write({ email: { $eq: canonicalEmail(email) } }, { $set: { plan } });
  if (!isSet) throw new AppError('NOT_FOUND', 'No developer has this email address.');
};
