import type { AppError } from '../../core/errors.ts';
import { type AccountRecord, findById } from '../account-store.ts';
import { credentialVersionOf } from '../credentials.ts';
import type { Client } from '../sessions.ts';
import { enter, type SignIn, type SigningStore } from '../sign-in.ts';
import { consumeTicket, countTicketTry } from './ticket.ts';
import { type FactorProof, invalidSecondFactor, useFactor } from './use-factor.ts';

/** The one refusal, whatever is wrong. */
const refused = (): AppError =>
  invalidSecondFactor('The code is wrong or was used already, or this sign-in has expired.');

/**
 * Ends a sign-in by its second factor (contract 3, "Second factor"). A ticket or code that is wrong, used or expired,
 * or credentials that have changed since → 401 `INVALID_SECOND_FACTOR`; of parallel calls one wins.
 */
export const signInWithFactor = async <R extends AccountRecord>(
  store: SigningStore<R>,
  { ticket, ...proof }: FactorProof & { readonly ticket: string },
  client: Client,
): Promise<SignIn<R>> => {
  const first = await countTicketTry(store.scope, ticket);
  const account = first && (await findById(store, first.userId));
  const isCurrent = account && !account.isDisabled && credentialVersionOf(account) === first?.version;
  if (!first || !isCurrent || !account._signIn?.totp) throw refused();
  const factor = await useFactor(store, account, proof);
  if (!factor || !(await consumeTicket(store.scope, ticket))) throw refused();
  return { account, session: await enter(store, account, client, [...first.amr, factor, 'mfa']) };
};
