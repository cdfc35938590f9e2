import { AppError } from '../errors.ts';

const longestAddress = 254;

/** Dot-separated words, an @, and a host name with at least one dot: ASCII, as mail servers everywhere take it. */
const plausible =
  /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*@(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])$/;

/** The form in which addresses are compared and stored: trimmed, lower case. */
export const canonicalEmail = (address: string): string => address.trim().toLowerCase();

/** The canonical form of an address that a new account wants; 400 `VALIDATION_FAILED` where mail could not reach it. */
export const checkEmail = (value: unknown): string => {
  const address = typeof value === 'string' ? canonicalEmail(value) : '';
  if (address.length > longestAddress || !plausible.test(address)) {
    const message = `email must be an e-mail address of at most ${longestAddress} characters`;
    throw new AppError('VALIDATION_FAILED', `Validation failed: ${message}`, {
      errors: [{ field: 'email', message }],
    });
  }
  return address;
};
