import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { nowSeconds } from '../core/clock.ts';
import { serviceName } from '../core/config.ts';
import { AppError } from '../core/errors.ts';
import { itemKey, type Key } from '../persistence/item-keys.ts';
import { countTry } from '../persistence/single-use.ts';
import * as kinds from '../persistence/table-keys.ts';
import { open, seal } from '../projects/sealed.ts';
import { accountChanges, notifyOfChange } from './account-mail.ts';
import { type AccountRecord, type AccountStore, enabled } from './account-store.ts';
import { replaceCredentials, unchangedSince } from './credentials.ts';
import { hashCode, newCode, parseCode } from './email-tokens.ts';
import { countFactorFailure, undoFactorFailure } from './lockout.ts';
import type { SessionScope } from './sessions.ts';
import { consumeSecret, isSecret, issueSecret, normalizeCode, type SecretKind, sha256 } from './single-use-secrets.ts';
import { requireRecentAccount } from './step-up.ts';
import type { Bearer } from './tokens.ts';

const stepSeconds = 30;

const digits = 6;

/** Tolerated clock drift in steps. */
const drift = 1;

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** RFC 4648 without padding. */
export const base32 = (bytes: Uint8Array): string => {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  return (bits.match(/.{1,5}/g) ?? []).map((five) => alphabet[Number.parseInt(five.padEnd(5, '0'), 2)]).join('');
};

/** HMAC-SHA-1, truncated as RFC 4226 says; `step` counts 30 s since 1970. */
export const codeAt = (secret: Uint8Array, step: number): string => {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac('sha1', secret).update(counter).digest();
  const offset = (mac.at(-1) ?? 0) & 0xf;
  return String((mac.readUInt32BE(offset) & 0x7fffffff) % 10 ** digits).padStart(digits, '0');
};

const isSame = (a: string, b: string): boolean =>
  a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));

/** Finds the step later than `after` with this code, among the current one and its neighbours. */
export const stepOf = (secret: Uint8Array, typed: string, seconds: number, after = -1): number | undefined => {
  const code = normalizeCode(typed);
  if (!/^\d{6}$/.test(code)) return undefined;
  const now = Math.floor(seconds / stepSeconds);
  return [now, now - drift, now + drift].find((step) => step > after && isSame(codeAt(secret, step), code));
};

/** For QR codes; apps show a `+` literally, so spaces are percent-encoded. */
export const otpauthUri = (secret: string, issuer: string, account: string): string => {
  const app = encodeURIComponent(issuer);
  return `otpauth://totp/${app}:${encodeURIComponent(account)}?secret=${secret}&issuer=${app}`;
};

const codes = 10;

/** `undefined` if it cannot be a code. */
const hashRecoveryCode = async (typed: string, place: string): Promise<string | undefined> => {
  const code = parseCode(typed);
  return code && hashCode(code, place, 'recovery codes');
};

/** Single-use codes that replace a lost device, and their hashes. */
const newRecoveryCodes = async (place: string) => {
  const made = Array.from({ length: codes }, newCode);
  const hashes = await Promise.all(made.map((code) => hashRecoveryCode(code, place)));
  return { codes: made, hashes: hashes.flatMap((hash) => hash ?? []) };
};

/** The code of an app, or a recovery code. */
export interface FactorProof {
  readonly code?: string | undefined;
  readonly recoveryCode?: string | undefined;
}

/** Context that secrets and recovery codes are bound to. */
const factorPlace = (scope: SessionScope, userId: string): string => `${scope}/totp/${userId}`;

export const invalidSecondFactor = (message = 'The code is wrong or was used already.'): AppError =>
  new AppError('INVALID_SECOND_FACTOR', message);

const openSecret = async (sealed: string, place: string): Promise<Buffer> =>
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

/** `undefined` if it is wrong. Throws 429 `ACCOUNT_LOCKED` after 10 wrong ones in 15 minutes. */
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
  await undoFactorFailure(store.scope, userId);
  return isTotp ? 'totp' : 'recovery';
};

const tries = 5;

const tickets: SecretKind = { keyOf: (scope, hash) => itemKey(kinds.ticket, scope, { hash }), seconds: 300 };

/** The account and how it proved the first factor. */
interface FirstFactor {
  readonly userId: string;
  readonly version: number;
  readonly amr: readonly string[];
}

type TicketItem = Key & {
  readonly userId: string;
  readonly version: number;
  readonly amr: string;
  readonly tries: number;
  readonly expiresAt: number;
};

/** 401 `SECOND_FACTOR_REQUIRED` with a ticket for 5 minutes. */
export const secondFactorRequired = async (
  scope: SessionScope,
  { userId, version, amr }: FirstFactor,
): Promise<AppError> => {
  const ticket = await issueSecret(tickets, scope, { userId, version, amr: amr.join(' '), tries: 0 });
  const message = 'Enter the code of your authenticator app, or a recovery code, to sign in.';
  return new AppError('SECOND_FACTOR_REQUIRED', message, { ticket });
};

/** Allows 5 attempts per ticket; `undefined` if it is unknown, used, expired or has none left. */
export const countTicketTry = async (scope: SessionScope, ticket: string): Promise<FirstFactor | undefined> => {
  if (!isSecret(ticket)) return undefined;
  const item = await countTry<TicketItem>({
    key: tickets.keyOf(scope, sha256(ticket)),
    condition: 'attribute_not_exists(usedBy) AND expiresAt > :now AND tries < :most',
    values: { most: tries, now: nowSeconds() },
  });
  return item && { userId: item.userId, version: item.version, amr: item.amr.split(' ') };
};

/** True for exactly one concurrent caller. */
export const consumeTicket = async (scope: SessionScope, ticket: string): Promise<boolean> =>
  (await consumeSecret(tickets, scope, ticket)) !== undefined;

const alreadySetUp = (): AppError =>
  new AppError('SECOND_FACTOR_EXISTS', 'This account already has an authenticator app. Remove it first.');

/** Returns a new secret, which a later start replaces. Throws 409 `SECOND_FACTOR_EXISTS`. */
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

/** Other sessions end. Returns the recovery codes. Errors: 401 `INVALID_SECOND_FACTOR`, 409 `SECOND_FACTOR_EXISTS`. */
export const confirmTotp = async (store: AccountStore, bearer: Bearer, code: string): Promise<readonly string[]> => {
  const account = await requireRecentAccount(store, bearer);
  const { totp, totpPending } = account._signIn ?? {};
  if (totp) throw alreadySetUp();
  if (totpPending === undefined) throw invalidSecondFactor('No authenticator app is being set up. Start again.');
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

/** Errors: 404 `SECOND_FACTOR_NOT_FOUND`, 401 `INVALID_SECOND_FACTOR`. */
const requireFactor = async (store: AccountStore, bearer: Bearer, proof: FactorProof): Promise<AccountRecord> => {
  const account = await requireRecentAccount(store, bearer);
  if (!account._signIn?.totp) throw new AppError('SECOND_FACTOR_NOT_FOUND', 'This account has no authenticator app.');
  if (!(await useFactor(store, account, proof))) throw invalidSecondFactor();
  return account;
};

/** Other sessions end. Returns the new codes. Throws 401 `INVALID_SECOND_FACTOR`. */
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

/** Removes the authenticator app. Errors: 404 `SECOND_FACTOR_NOT_FOUND`, 401 `INVALID_SECOND_FACTOR`. */
export const removeTotp = async (store: AccountStore, bearer: Bearer, proof: FactorProof): Promise<void> => {
  const account = await requireFactor(store, bearer, proof);
  const ending = { except: bearer.sessionId, tokens: false, unset: { '_signIn.totp': '' } };
  const changed = await replaceCredentials(store, { _id: account._id }, {}, ending);
  await notifyOfChange(store, changed, accountChanges.factorRemoved);
};
