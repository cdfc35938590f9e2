import { untilWritten } from '../core/until-written.ts';
import { type AccountRecord, type AccountStore, findByEmail } from './account-store.ts';
import { takeOver } from './credentials.ts';
import { firstDevice } from './devices.ts';
import { type EmailProof, withProof } from './email-tokens/email-proof.ts';
import type { Client } from './sessions.ts';
import { enter, type SignIn, type SigningStore } from './sign-in.ts';

/** Opens an account with a verified address; `undefined` where none may be, `null` where somebody has just done so. */
export type OpenByAddress<R extends AccountRecord> = (email: string) => Promise<R | undefined | null>;

const accountFor = <R extends AccountRecord>(
  store: AccountStore<R>,
  email: string,
  open: OpenByAddress<R>,
  client: Client,
): Promise<{ readonly account: R; readonly isNew: boolean } | undefined> =>
  untilWritten('This account is being changed right now. Please try again.', async () => {
    const known = await findByEmail(store, email);
    if (known?.isDisabled) return undefined;
    const account = known
      ? known.emailVerified
        ? known
        : await takeOver(store, known, { '_signIn.devices': firstDevice(client).devices })
      : await open(email);
    return account && { account, isNew: !known };
  });

/**
 * Signs in with the code or the link of a mail, once (contract 3, "Sign-in by code"); an address without an account
 * gets one. Wrong, used or expired, disabled, or sign-ups closed → 400 `INVALID_CODE`.
 */
export const signInByCode = <R extends AccountRecord>(
  store: SigningStore<R>,
  proof: EmailProof,
  open: OpenByAddress<R>,
  client: Client,
): Promise<SignIn<R> & { readonly isNew: boolean }> =>
  withProof(store.scope, 'code', proof, async ({ email }) => {
    const proved = await accountFor(store, email.$eq, open, client);
    return proved && { ...proved, session: await enter(store, proved.account, client, ['email']) };
  });
