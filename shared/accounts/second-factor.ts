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
import { consumeSecret, isSecret, issueSecret, normalizeCode, type OneTime, sha256 } from './single-use-secrets.ts';
import { requireRecentAccount } from './step-up.ts';
import type { Bearer } from './tokens.ts';

const stepSeconds = 30;

const digits = 6;

/** A device whose clock is off by so many steps is still understood. */
const drift = 1;

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** Bytes as authenticator apps take them: base32 (RFC 4648) without padding. */
export const base32 = (bytes: Uint8Array): string => {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  return (bits.match(/.{1,5}/g) ?? []).map((five) => alphabet[Number.parseInt(five.padEnd(5, '0'), 2)]).join('');
};

/** The code of a step of 30 seconds since 1970: HMAC-SHA-1, cut as RFC 4226 has it. */
export const codeAt = (secret: Uint8Array, step: number): string => {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac('sha1', secret).update(counter).digest();
  const offset = (mac.at(-1) ?? 0) & 0xf;
  return String((mac.readUInt32BE(offset) & 0x7fffffff) % 10 ** digits).padStart(digits, '0');
};

const isSame = (a: string, b: string): boolean =>
  a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));

/** The step above `after` whose code this is, of the present one and one on either side. */
export const stepOf = (secret: Uint8Array, typed: string, seconds: number, after = -1): number | undefined => {
  const code = normalizeCode(typed);
  if (!/^\d{6}$/.test(code)) return undefined;
  const now = Math.floor(seconds / stepSeconds);
  return [now, now - drift, now + drift].find((step) => step > after && isSame(codeAt(secret, step), code));
};

/** What an authenticator app reads from a QR code; apps show a `+` as it stands. */
export const otpauthUri = (secret: string, issuer: string, account: string): string => {
  const app = encodeURIComponent(issuer);
  return `otpauth://totp/${app}:${encodeURIComponent(account)}?secret=${secret}&issuer=${app}`;
};

const codes = 10;

/** The stored form of a recovery code as typed; `undefined` where it cannot be one. */
const hashRecoveryCode = async (typed: string, place: string): Promise<string | undefined> => {
  const code = parseCode(typed);
  return code && hashCode(code, place, 'recovery codes');
};

/** Codes that each stand once for a device that is lost, and what is kept of them. */
const newRecoveryCodes = async (place: string) => {
  const made = Array.from({ length: codes }, newCode);
  const hashes = await Promise.all(made.map((code) => hashRecoveryCode(code, place)));
  return { codes: made, hashes: hashes.flatMap((hash) => hash ?? []) };
};

/** What shows that somebody has the second factor, as sent. */
export interface FactorProof {
  readonly code?: string | undefined;
  readonly recoveryCode?: string | undefined;
}

/** What secret and recovery codes of an account are sealed and hashed to. */
const factorPlace = (scope: SessionScope, userId: string): string => `${scope}/totp/${userId}`;

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
  await undoFactorFailure(store.scope, userId);
  return isTotp ? 'totp' : 'recovery';
};

const tries = 5;

const tickets: OneTime = { keyOf: (scope, hash) => itemKey(kinds.ticket, scope, { hash }), seconds: 300 };

/** What a first factor was proved for: whose account, in which version of its credentials, and how. */
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

/** Refuses a sign-in until its second factor is there: 401 `SECOND_FACTOR_REQUIRED` with a ticket for 5 minutes. */
export const secondFactorRequired = async (
  scope: SessionScope,
  { userId, version, amr }: FirstFactor,
): Promise<AppError> => {
  const ticket = await issueSecret(tickets, scope, { userId, version, amr: amr.join(' '), tries: 0 });
  const message = 'Enter the code of your authenticator app, or a recovery code, to sign in.';
  return new AppError('SECOND_FACTOR_REQUIRED', message, { ticket });
};

/** Counts a try with a ticket, of five; `undefined` for a ticket that is unknown, used, expired or tried out. */
export const countTicketTry = async (scope: SessionScope, ticket: string): Promise<FirstFactor | undefined> => {
  if (!isSecret(ticket)) return undefined;
  const item = await countTry<TicketItem>({
    key: tickets.keyOf(scope, sha256(ticket)),
    condition: 'attribute_not_exists(usedBy) AND expiresAt > :now AND tries < :most',
    values: { most: tries, now: nowSeconds() },
  });
  return item && { userId: item.userId, version: item.version, amr: item.amr.split(' ') };
};

/** Uses a ticket up: true for one of any number of parallel callers. */
export const consumeTicket = async (scope: SessionScope, ticket: string): Promise<boolean> =>
  (await consumeSecret(tickets, scope, ticket)) !== undefined;

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
