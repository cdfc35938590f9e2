import { validationFailed } from '../core/errors.ts';
import { isAddress, unreachable } from '../core/mailbox.ts';

/** The form in which addresses are compared and stored: trimmed, lower case. */
export const canonicalEmail = (address: string): string => address.trim().toLowerCase();

/** The canonical form of an address that a new account wants; 400 `VALIDATION_FAILED` where mail could not reach it. */
export const checkEmail = (value: unknown): string => {
  const address = typeof value === 'string' ? canonicalEmail(value) : '';
  if (!isAddress(address)) throw validationFailed({ field: 'email', message: `email ${unreachable}` });
  return address;
};
