import { nowSeconds } from '../../core/clock.ts';
import { AppError } from '../../core/errors.ts';
import { open } from '../../projects/sealed.ts';
import { type AccountRecord, type AccountStore, enabled } from '../account-store.ts';
import { countFactorFailure, takeFactorFailureBack } from '../lockout.ts';
import type { SessionScope } from '../sessions.ts';
import { hashRecoveryCode } from './recovery-codes.ts';
import { stepOf } from './totp.ts';

/** What shows that somebody has the second factor, as sent. */
export interface FactorProof {
  readonly code?: string | undefined;
  readonly recoveryCode?: string | undefined;
}

/** What secret and recovery codes of an account are sealed and hashed to. */
export const factorPlace = (scope: SessionScope, userId: string): string => `${scope}/totp/${userId}`;

export const invalidSecondFactor = (message = 'The code is wrong or was used already.'): AppError =>
  new AppError('INVALID_SECOND_FACTOR', message);

/** The secret that an account has sealed. */
export const openSecret = async (sealed: string, place: string): Promise<Buffer> =>
  Buffer.from(await open(sealed, place), 'base64url');

const useCode = async ({ scope, note }: AccountStore, { _id, _signIn }: AccountRecord, code: string) => {
  const { sealed = '', lastStep = -1 } = _signIn?.totp ?? {};
  const secret = await openSecret(sealed, factorPlace(scope, _id.toHexString()));
  const step = stepOf(secret, code, nowSeconds(), lastStep);
  if (step === undefined) return false;
  const filter = { _id, ...enabled, '_signIn.totp.sealed': { $eq: sealed }, '_signIn.totp.lastStep': { $lt: step } };
  return note(filter, { $set: { '_signIn.totp.lastStep': step } });
};

const useRecovery = async ({ scope, note }: AccountStore, { _id }: AccountRecord, typed: string) => {
  const hash = await hashRecoveryCode(typed, factorPlace(scope, _id.toHexString()));
  if (hash === undefined) return false;
  const codes = '_signIn.totp.recovery';
  return note({ _id, ...enabled, [codes]: { $eq: hash } }, { $pull: { [codes]: hash } });
};

/**
 * Uses up a code of the account's second factor, or one of its recovery codes, by one conditional write: how it was
 * proved, or `undefined`. Counted before it is looked at; over 10 wrong ones in 15 minutes → 429 `ACCOUNT_LOCKED`.
 */
export const useFactor = async (
  store: AccountStore,
  account: AccountRecord,
  { code, recoveryCode }: FactorProof,
): Promise<'totp' | 'recovery' | undefined> => {
  const userId = account._id.toHexString();
  await countFactorFailure(store.scope, userId);
  const isTotp = code !== undefined && (await useCode(store, account, code));
  const isRecovery = !isTotp && recoveryCode !== undefined && (await useRecovery(store, account, recoveryCode));
  if (!isTotp && !isRecovery) return undefined;
  await takeFactorFailureBack(store.scope, userId);
  return isTotp ? 'totp' : 'recovery';
};
