import { createHmac } from 'node:crypto';
import { derivedKey } from '../../projects/sealed.ts';
import { newCode, parseCode } from '../email-tokens/email-token.ts';

const codes = 10;

/** The stored form of a recovery code: keyed, as forty bits could be guessed from a plain hash, and bound to `place`. */
export const hashRecoveryCode = async (typed: string, place: string): Promise<string | undefined> => {
  const code = parseCode(typed);
  if (code === undefined) return undefined;
  const key = await derivedKey('recovery codes');
  return createHmac('sha256', key).update(`${place}\n${code}`).digest('base64url');
};

/** Codes that each stand once for a device that is lost, and what is kept of them. */
export const newRecoveryCodes = async (
  place: string,
): Promise<{ readonly codes: readonly string[]; readonly hashes: readonly string[] }> => {
  const made = Array.from({ length: codes }, newCode);
  const hashes = await Promise.all(made.map((code) => hashRecoveryCode(code, place)));
  return { codes: made, hashes: hashes.flatMap((hash) => hash ?? []) };
};
