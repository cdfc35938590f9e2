import { hash, verify } from '@node-rs/bcrypt';
import { passwordSettings } from '../core/config.ts';
import { validationFailed } from '../core/errors.ts';

const minBytes = 8;
const maxBytes = 72;

/** Keyboards send the same letters composed or decomposed (RFC 8265). */
const normalize = (password: string): string => password.normalize('NFC');

/** Why bcrypt cannot use this password; `undefined` if it can. */
const passwordProblem = (value: unknown): string | undefined => {
  if (typeof value !== 'string') return 'must be a String';
  const bytes = Buffer.byteLength(value);
  if (bytes < minBytes || bytes > maxBytes) return `must be ${minBytes} to ${maxBytes} bytes long`;
  if (value.includes('\0')) return 'must not contain a NUL character';
  return value.isWellFormed() ? undefined : 'must be well-formed Unicode';
};

/** Returns it in NFC. Throws 400 `VALIDATION_FAILED` unless it has 8 to 72 bytes without NUL, bcrypt's limits. */
export const checkPassword = (value: unknown, field = 'password'): string => {
  const password = typeof value === 'string' ? normalize(value) : value;
  const wrong = passwordProblem(password);
  if (wrong !== undefined) throw validationFailed({ field, message: `${field} ${wrong}` });
  return password as string;
};

export const hashPassword = (password: string): Promise<string> =>
  hash(normalize(password), { cost: passwordSettings().PASSWORD_COST });

/** Matches no password, but takes as long to verify as a real hash. */
const dummyHash = (): string =>
  `$2b$${String(passwordSettings().PASSWORD_COST).padStart(2, '0')}$${'abcdefghijklmnopqrstuu'}${'.'.repeat(31)}`;

const verifyNormalized = async (password: string, stored: string | undefined): Promise<boolean> => {
  const possible = passwordProblem(password) === undefined;
  const matches = await verify(possible ? password : '', stored ?? dummyHash());
  return matches && possible && stored !== undefined;
};

/** Accepts NFC, or as sent for older hashes. For a missing account pass `undefined`: same time, false. */
export const verifyPassword = async (password: string, stored: string | undefined): Promise<boolean> => {
  const normal = normalize(password);
  return (await verifyNormalized(normal, stored)) || (normal !== password && verifyNormalized(password, stored));
};

/** True if the hash has another cost than the setting. */
export const needsRehash = (stored: string): boolean =>
  Number(stored.split('$')[2]) !== passwordSettings().PASSWORD_COST;
