import { AppError } from '../../core/errors.ts';
import { isAddress } from '../../core/mailbox.ts';

const providerId = /^[A-Za-z0-9_-]{1,100}$/;

/** An id that may stand in a path at the provider; any other is unknown → 404 `MAIL_PROVIDER_NOT_FOUND`. */
export const pathId = (what: 'audience' | 'broadcast', id: string): string => {
  if (providerId.test(id)) return id;
  throw new AppError('MAIL_PROVIDER_NOT_FOUND', `There is no ${what} with this id.`);
};

/** The same for a contact, which its e-mail address names as well. */
export const contactPathId = (id: string): string => {
  if (providerId.test(id) || isAddress(id)) return encodeURIComponent(id);
  throw new AppError('MAIL_PROVIDER_NOT_FOUND', 'There is no contact with this id or address.');
};
