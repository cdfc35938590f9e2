import { hashCode, newCode, parseCode } from '../email-tokens/email-token.ts';

const codes = 10;

/** The stored form of a recovery code as typed; `undefined` where it cannot be one. */
export const hashRecoveryCode = async (typed: string, place: string): Promise<string | undefined> => {
  const code = parseCode(typed);
  return code && hashCode(code, place, 'recovery codes');
};

/** Codes that each stand once for a device that is lost, and what is kept of them. */
export const newRecoveryCodes = async (place: string) => {
  const made = Array.from({ length: codes }, newCode);
  const hashes = await Promise.all(made.map((code) => hashRecoveryCode(code, place)));
  return { codes: made, hashes: hashes.flatMap((hash) => hash ?? []) };
};
