import { nameOfProvider } from '../../projects/social-providers.ts';
import type { Identity } from '../account-store.ts';
import { type PasskeyView, toPasskeyView } from '../passkeys/passkey.ts';
import type { UserRecord } from './user-record.ts';

/** With what a user may sign in, as they see it (contract 3, "Security page"). */
export interface SecurityView {
  readonly email: string | null;
  readonly emailVerified: boolean;
  /** Whether they have a password of their own. */
  readonly password: boolean;
  readonly providers: { readonly provider: Identity['provider']; readonly name: string }[];
  /** The oldest first. */
  readonly passkeys: readonly PasskeyView[];
  /** The recovery codes of the authenticator app that are left; `null` without one. */
  readonly secondFactor: { readonly recoveryCodes: number } | null;
}

export const securityView = ({
  email,
  emailVerified,
  password,
  hasPassword,
  identities = [],
  _signIn: { totp, passkeys = [] } = {},
}: UserRecord): SecurityView => ({
  email: email ?? null,
  emailVerified: emailVerified === true,
  password: password !== undefined && hasPassword !== false,
  providers: [...new Set(identities.map(({ provider }) => provider))].map((provider) => ({
    provider,
    name: nameOfProvider(provider),
  })),
  passkeys: passkeys.map(toPasskeyView),
  secondFactor: totp ? { recoveryCodes: totp.recovery.length } : null,
});
