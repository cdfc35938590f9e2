import { requirePublic } from '../clients/net/guarded-request.ts';
import { AppError } from '../core/errors.ts';

const maxLength = 2000;

/** The refusal of a webhook that cannot be (400), naming the field that is wrong. */
export const invalidWebhook = (field: string, message: string, cause?: unknown): AppError =>
  new AppError('INVALID_WEBHOOK', message, { cause, errors: [{ field, message }] });

/**
 * The address of a receiver as it is kept: `https`, without user, password and fragment, on a host of the public
 * internet; else 400 `INVALID_WEBHOOK`.
 */
export const checkReceiver = async (text: string): Promise<string> => {
  const url = text.length <= maxLength ? URL.parse(text) : null;
  if (!url) throw invalidWebhook('url', `url must be an address of at most ${maxLength} characters, https://…`);
  if (url.username !== '' || url.password !== '' || url.hash !== '') {
    throw invalidWebhook('url', 'url must have no user name, password or fragment');
  }
  await requirePublic(url, 'url', invalidWebhook);
  return url.href;
};
