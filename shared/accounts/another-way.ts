import type { Document, ObjectId } from 'mongodb';
import { AppError } from '../core/errors.ts';
import type { SignInWays } from '../projects/sign-in-ways.ts';
import type { AccountStore } from './account-store.ts';

/** What signs in: the ways that are on, and the names of the providers that are enabled. */
export interface OpenWays extends SignInWays {
  readonly providers: readonly string[];
}

/** What is to be taken from an account. */
interface Taken {
  readonly provider?: string | null;
  readonly passkey?: ObjectId | null;
}

/** Without an address neither a password signs in nor does a mail arrive. */
const addressed = { email: { $type: 'string' } };

/** Holds for accounts that can still be signed in to without that; a verified address is sent a code or a reset. */
export const hasAnotherWay = (
  { hashField }: AccountStore,
  { password, emailCode, passkey: passkeys, providers }: OpenWays,
  { provider = null, passkey = null }: Taken,
): Document => ({
  $or: [
    { identities: { $elemMatch: { provider: { $in: providers.filter((name) => name !== provider) } } } },
    ...(password ? [{ ...addressed, hasPassword: { $ne: false }, [hashField]: { $exists: true } }] : []),
    ...(password || emailCode ? [{ ...addressed, emailVerified: true }] : []),
    ...(passkeys ? [{ '_signIn.passkeys': { $elemMatch: { _id: { $ne: passkey }, locked: { $ne: true } } } }] : []),
  ],
});

export const lastWayToSignIn = (): AppError =>
  new AppError(
    'LAST_WAY_TO_SIGN_IN',
    'Nothing else signs you in. Set a password, verify your address, link another provider or add a passkey first.',
  );
