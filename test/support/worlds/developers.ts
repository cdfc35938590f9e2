import { ObjectId } from 'mongodb';
import { inject } from 'vitest';
import { type DeveloperRecord, developerAccounts } from '../../../shared/accounts/developers/developers.ts';
import { openDeveloper } from '../../../shared/accounts/developers/social-site.ts';
import { linkAccount } from '../../../shared/accounts/social/link.ts';
import { requireProvider, type SocialProfile } from '../../../shared/accounts/social/providers.ts';
import { developerScope } from '../../../shared/persistence/item-keys.ts';
import { onControl } from '../../../shared/persistence/mongo.ts';
import { shownCode } from '../clients/authenticator.ts';
import { call, type RequestOptions } from '../clients/client.ts';
import { ageSession } from './users.ts';

export interface DashboardSignIn {
  readonly success: boolean;
  readonly message: string;
  readonly code?: string;
  readonly data: {
    readonly accessToken: string;
    readonly expiresIn: string;
    readonly developer: { readonly _id: string; readonly email: string; readonly emailVerified: boolean };
  };
}

/** Calls a route of developer accounts. */
export const auth = <Body = Record<string, unknown>>(method: string, path: string, options: RequestOptions = {}) =>
  call<Body>(inject('stack').dashboardUrl, method, `/api/auth/${path}`, options);

export const logIn = (email: string, password: string) =>
  auth<DashboardSignIn>('POST', 'login', { body: { email, password } });

export const refresh = (cookie: string) => auth<DashboardSignIn>('POST', 'refresh', { headers: { cookie } });

/** Sets up an authenticator app with a session that has just begun. */
export const guardDeveloper = async (token: string) => {
  const begun = await auth<{ data: { secret: string; uri: string } }>('POST', 'second-factor/totp', { token });
  const { secret, uri } = begun.body.data;
  const options = { token, body: { code: shownCode(secret) } };
  const done = await auth<{ data: { recoveryCodes: string[] } }>('POST', 'second-factor/totp/confirm', options);
  return { secret, uri, recoveryCodes: done.body.data.recoveryCodes };
};

/** Has a session begin some minutes ago. */
export const age = (token: string, minutes: number): Promise<void> => ageSession(developerScope, token, minutes);

/** A developer as he is stored. */
export const storedDeveloper = (id: string): Promise<DeveloperRecord | null> =>
  onControl((db) => db.collection<DeveloperRecord>('developers').findOne({ _id: new ObjectId(id) }));

/** What a sign-in with GitHub does to developers' accounts, without the way there. */
export const linkDeveloper = (profile: SocialProfile) =>
  linkAccount(developerAccounts, openDeveloper, requireProvider('github'), profile);
