import { createHmac, timingSafeEqual } from 'node:crypto';
import { nowSeconds } from '../../core/clock.ts';
import { AppError } from '../../core/errors.ts';
import { itemKey, type Key } from '../../persistence/item-keys.ts';
import { countTry } from '../../persistence/single-use.ts';
import * as kinds from '../../persistence/table-keys.ts';
import { open } from '../../projects/sealed.ts';
import { type AccountRecord, type AccountStore, enabled } from '../account-store.ts';
import { hashCode, newCode, parseCode } from '../email-tokens.ts';
import { countFactorFailure, undoFactorFailure } from '../lockout.ts';
import type { SessionScope } from '../sessions.ts';
import { consumeSecret, isSecret, issueSecret, normalizeCode, type OneTime, sha256 } from '../single-use-secrets.ts';

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
export const newRecoveryCodes = async (place: string) => {
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
