import { randomBytes } from 'node:crypto';
import { nowSeconds } from '../../core/clock.ts';
import { serviceName } from '../../core/config.ts';
import { AppError } from '../../core/errors.ts';
import { seal } from '../../projects/sealed.ts';
import { accountChanges, notifyOfChange } from '../account-mail.ts';
import { type AccountRecord, type AccountStore, enabled } from '../account-store.ts';
import { replaceCredentials, unchangedSince } from '../credentials.ts';
import { countFactorFailure, undoFactorFailure } from '../lockout.ts';
import { requireRecentAccount } from '../step-up.ts';
import type { Bearer } from '../tokens.ts';
import {
  base32,
  type FactorProof,
  factorPlace,
  invalidSecondFactor,
  newRecoveryCodes,
  openSecret,
  otpauthUri,
  stepOf,
  useFactor,
} from './totp.ts';

const alreadySetUp = (): AppError =>
  new AppError('SECOND_FACTOR_EXISTS', 'This account already has an authenticator app. Remove it first.');

/**
 * Begins to set up an authenticator app: the secret is shown this once, and counts once it is confirmed; a later one
 * takes its place. Set up already → 409 `SECOND_FACTOR_EXISTS`.
 */
export const startTotp = async (store: AccountStore, bearer: Bearer) => {
  const { _id, email = bearer.userId } = await requireRecentAccount(store, bearer);
  const bytes = randomBytes(20);
  const sealed = await seal(bytes.toString('base64url'), factorPlace(store.scope, bearer.userId));
  const free = { _id, ...enabled, '_signIn.totp': { $exists: false } };
  if (!(await store.write(free, { $set: { '_signIn.totpPending': sealed } }))) throw alreadySetUp();
  const secret = base32(bytes);
  const { siteName } = store.mailOrigin();
  return { secret, uri: otpauthUri(secret, siteName || serviceName, email) };
};

/**
 * Ends it with a code of the app, which signs in from then on; other sessions end. Returns the recovery codes, this
 * once. Wrong → 401 `INVALID_SECOND_FACTOR`, counted; of parallel calls one wins, the others are 409.
 */
export const confirmTotp = async (store: AccountStore, bearer: Bearer, code: string): Promise<readonly string[]> => {
  const account = await requireRecentAccount(store, bearer);
  const { totp, totpPending } = account._signIn ?? {};
  if (totp) throw alreadySetUp();
  if (totpPending === undefined) throw invalidSecondFactor('No authenticator app is being set up. Begin anew.');
  const place = factorPlace(store.scope, bearer.userId);
  await countFactorFailure(store.scope, bearer.userId);
  const lastStep = stepOf(await openSecret(totpPending, place), code, nowSeconds());
  if (lastStep === undefined) throw invalidSecondFactor();
  await undoFactorFailure(store.scope, bearer.userId);
  const { codes, hashes } = await newRecoveryCodes(place);
  const filter = { ...unchangedSince(account), ...enabled, '_signIn.totpPending': { $eq: totpPending } };
  const set = { '_signIn.totp': { sealed: totpPending, lastStep, recovery: hashes } };
  const ending = { except: bearer.sessionId, tokens: false, unset: { '_signIn.totpPending': '' } };
  const changed = await replaceCredentials(store, filter, set, ending);
  if (!changed) throw alreadySetUp();
  await notifyOfChange(store, changed, accountChanges.factorAdded);
  return codes;
};

/**
 * The account of who has just signed in, and shows the second factor once more; none → 404 `SECOND_FACTOR_NOT_FOUND`.
 */
const requireFactor = async (store: AccountStore, bearer: Bearer, proof: FactorProof): Promise<AccountRecord> => {
  const account = await requireRecentAccount(store, bearer);
  if (!account._signIn?.totp) throw new AppError('SECOND_FACTOR_NOT_FOUND', 'This account has no authenticator app.');
  if (!(await useFactor(store, account, proof))) throw invalidSecondFactor();
  return account;
};

/**
 * Makes other recovery codes in the place of those that there are, for one of its codes or theirs; other sessions end.
 * Returns them, this once. Wrong → 401 `INVALID_SECOND_FACTOR`, counted, as it is for all but one of parallel calls.
 */
export const createRecoveryCodes = async (
  store: AccountStore,
  bearer: Bearer,
  proof: FactorProof,
): Promise<readonly string[]> => {
  const account = await requireFactor(store, bearer, proof);
  const { codes, hashes } = await newRecoveryCodes(factorPlace(store.scope, bearer.userId));
  const filter = { ...unchangedSince(account), ...enabled, '_signIn.totp': { $exists: true } };
  const ending = { except: bearer.sessionId, tokens: false };
  const changed = await replaceCredentials(store, filter, { '_signIn.totp.recovery': hashes }, ending);
  if (!changed) throw invalidSecondFactor();
  await notifyOfChange(store, changed, accountChanges.recoveryCodesReplaced);
  return codes;
};

/** Removes the authenticator app with one of its codes, or a recovery code; none → 404 `SECOND_FACTOR_NOT_FOUND`. */
export const removeTotp = async (store: AccountStore, bearer: Bearer, proof: FactorProof): Promise<void> => {
  const account = await requireFactor(store, bearer, proof);
  const ending = { except: bearer.sessionId, tokens: false, unset: { '_signIn.totp': '' } };
  const changed = await replaceCredentials(store, { _id: account._id }, {}, ending);
  await notifyOfChange(store, changed, accountChanges.factorRemoved);
};
