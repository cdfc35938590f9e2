import { clock } from '../../core/clock.ts';
import { dashboardSettings, signupSettings } from '../../core/config.ts';
import { AppError } from '../../core/errors.ts';
import { newId } from '../../core/new-id.ts';
import { serviceName } from '../../core/service-name.ts';
import { unlessTaken } from '../../core/until-written.ts';
import { developerScope } from '../../table/item-key.ts';
import { type AccountStore, accountStore } from '../account-store.ts';
import type { OpenWays } from '../another-way.ts';
import { type DeveloperRecord, developerRecords } from '../developers/developer-record.ts';
import { endLeftAccess } from '../developers/tokens/token-record.ts';
import { issueDashboardToken } from '../session-jwt.ts';
import type { SigningStore } from '../sign-in.ts';
import type { AddressedAccount } from '../sign-up.ts';

/** The developers: `control.developers`. One who has deleted their account is gone at once, and removed later. */
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

/** With what they may sign in. */
export const developerWays = (): OpenWays => ({
  password: true,
  emailCode: true,
  anonymous: false,
  passkey: true,
  secondFactor: 'optional',
  providers: dashboardSettings().DASHBOARD_GITHUB_CLIENT_ID ? ['github'] : [],
});

/** The same, signing tokens of the dashboard API. */
export const developerSignIns = (): SigningStore<DeveloperRecord> => ({
  ...developerAccounts,
  issueToken: (bearer) => issueDashboardToken(bearer),
});

/** Refuses a new account if the operator makes them all (`npm run add-developer`): 403 `SIGNUP_DISABLED`. */
export const requireOpenSignup = (): void => {
  if (signupSettings().DEVELOPER_SIGNUP === 'open') return;
  throw new AppError(
    'SIGNUP_DISABLED',
    'Registration is closed here. Ask the operator of this service for an account.',
  );
};

/** Stores a developer on the free plan. Taken address or identity → 409 `DEVELOPER_EXISTS`; of equal calls one wins. */
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
  await unlessTaken(developerRecords.insertOne(record), (cause) => {
    const message = 'An account with this e-mail address exists already. Log in instead.';
    throw new AppError('DEVELOPER_EXISTS', message, { cause });
  });
  return record;
};
