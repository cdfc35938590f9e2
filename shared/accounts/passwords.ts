import { hash, verify } from '@node-rs/bcrypt';
import { passwordSettings } from '../core/config.ts';
import { validationFailed } from '../core/errors.ts';

const minBytes = 8;
const maxBytes = 72;

/** The one spelling of a password (RFC 8265): keyboards send the same letters composed or not. */
const spelled = (password: string): string => password.normalize('NFC');

/** Why bcrypt could not tell this password from others; `undefined` for one it can. */
const flaw = (value: unknown): string | undefined => {
  if (typeof value !== 'string') return 'must be a String';
  const bytes = Buffer.byteLength(value);
  if (bytes < minBytes || bytes > maxBytes) return `must be ${minBytes} to ${maxBytes} bytes long`;
  if (value.includes('\0')) return 'must not contain a NUL character';
  return value.isWellFormed() ? undefined : 'must be well-formed Unicode';
};

/**
 * A password in NFC, then of 8 to 72 bytes without NUL (bcrypt's limits), else 400 `VALIDATION_FAILED` naming `field`.
 */
export const checkPassword = (value: unknown, field = 'password'): string => {
  const password = typeof value === 'string' ? spelled(value) : value;
  const wrong = flaw(password);
  if (wrong !== undefined) throw validationFailed({ field, message: `${field} ${wrong}` });
  return password as string;
};

export const hashPassword = (password: string): Promise<string> =>
  hash(spelled(password), { cost: passwordSettings().PASSWORD_COST });

/** A hash that matches no password: verifying against it takes as long as against a real one. */
const nobodysHash = (): string =>
  `$2b$${String(passwordSettings().PASSWORD_COST).padStart(2, '0')}$${'abcdefghijklmnopqrstuu'}${'.'.repeat(31)}`;

const verifySpelling = async (password: string, stored: string | undefined): Promise<boolean> => {
  const possible = flaw(password) === undefined;
  const matches = await verify(possible ? password : '', stored ?? nobodysHash());
  return matches && possible && stored !== undefined;
};

/**
 * Whether a password is the one behind a hash: in NFC, or as it was sent, which older and imported hashes are of. For
 * an account that does not exist pass `undefined`: it takes the same time and is false. A password that could never
 * have been set is false too, in the same time.
 */
export const verifyPassword = async (password: string, stored: string | undefined): Promise<boolean> => {
  const normal = spelled(password);
  return (await verifySpelling(normal, stored)) || (normal !== password && verifySpelling(password, stored));
};

/** True for a hash of another cost than is set now: hash the password again at the next sign-in. */
export const needsRehash = (stored: string): boolean =>
  Number(stored.split('$')[2]) !== passwordSettings().PASSWORD_COST;
