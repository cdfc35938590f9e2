import type { PaginationOptions, Resend } from 'resend';
import type { Answer } from '../../clients/resend.ts';
import { callProvider } from '../../clients/resend-proxy.ts';
import { AppError } from '../../core/errors.ts';
import { isAddress } from '../../core/mailbox.ts';
import type { Project } from '../../projects/project.ts';
import { ownProviderKey } from '../provider-key.ts';

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

/** Which part of one of the provider's lists: at most `limit` (20 unless given, up to 100), after or before an id. */
export interface ListPart {
  readonly limit?: number | undefined;
  readonly after?: string | undefined;
  readonly before?: string | undefined;
}

/** Both ends at once → 400 `INVALID_QUERY`: the provider takes one. */
export const pagination = ({ limit, after, before }: ListPart): PaginationOptions => {
  if (after !== undefined && before !== undefined) {
    throw new AppError('INVALID_QUERY', 'Give after or before, not both.');
  }
  return {
    ...(limit !== undefined && { limit }),
    ...(after === undefined ? before !== undefined && { before } : { after }),
  };
};

/**
 * What the provider answers to a call with the project's own key, which audiences live under; none → 403
 * `OWN_MAIL_KEY_REQUIRED`. `before` may refuse the call, with a key of its own only.
 */
export const onOwnAccount = async <T>(
  project: Project,
  call: (resend: Resend, options: { readonly signal: AbortSignal }) => Promise<Answer<T>>,
  before?: (project: Project) => Promise<void> | void,
): Promise<T> => {
  const apiKey = await ownProviderKey(project);
  if (!apiKey) {
    throw new AppError(
      'OWN_MAIL_KEY_REQUIRED',
      'Audiences, contacts and broadcasts need a mail provider key of your own. Set providerApiKey in the settings of the project.',
    );
  }
  await before?.(project);
  return callProvider(apiKey, (resend, signal) => call(resend, { signal }));
};
