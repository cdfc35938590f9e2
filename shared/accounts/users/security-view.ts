import { nameOfProvider } from '../../projects/social-providers.ts';
import { toPasskeyView } from '../passkeys/passkey.ts';
import type { UserRecord } from './user-record.ts';

/** With what a user may sign in, as they see it (contract 3, "Security page"); the oldest passkey first. */
export const securityView = ({
  email,
  emailVerified,
  password,
  hasPassword,
  identities = [],
  _signIn: { totp, passkeys = [] } = {},
}: UserRecord) => ({
  email: email ?? null,
  emailVerified: emailVerified === true,
  /** Whether they have one of their own. */
  password: password !== undefined && hasPassword !== false,
  providers: [...new Set(identities.map(({ provider }) => provider))].map((provider) => ({
    provider,
    name: nameOfProvider(provider),
  })),
  passkeys: passkeys.map(toPasskeyView),
  /** The recovery codes of the authenticator app that are left; `null` without one. */
  secondFactor: totp ? { recoveryCodes: totp.recovery.length } : null,
});
