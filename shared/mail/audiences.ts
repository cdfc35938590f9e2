import type { PaginationOptions, Resend } from 'resend';
import { mailSettings } from '../core/config.ts';
import { AppError } from '../core/errors.ts';
import { isAddress } from '../core/schemas.ts';
import { type Answer, callProvider } from '../outbound/resend.ts';
import type { Project } from '../projects/project.ts';
import { customerProviderKey } from './content.ts';
import { quotaExceeded } from './limits.ts';
import { mailUsage } from './quota.ts';

const providerId = /^[A-Za-z0-9_-]{1,100}$/;

/** Throws 404 `MAIL_PROVIDER_NOT_FOUND` for an id that could not be part of a path. */
export const pathId = (what: 'audience' | 'broadcast', id: string): string => {
  if (providerId.test(id)) return id;
  throw new AppError('MAIL_PROVIDER_NOT_FOUND', `There is no ${what} with this id.`);
};

/** Contacts are named by id or email address. */
export const contactPathId = (id: string): string => {
  if (providerId.test(id) || isAddress(id)) return encodeURIComponent(id);
  throw new AppError('MAIL_PROVIDER_NOT_FOUND', 'There is no contact with this id or address.');
};

/** `limit`: 1 to 100, 20 by default. */
interface ListPart {
  readonly limit?: number | undefined;
  readonly after?: string | undefined;
  readonly before?: string | undefined;
}

/** Throws 400 `INVALID_QUERY` if both `after` and `before` are given; the provider takes one. */
const pagination = ({ limit, after, before }: ListPart): PaginationOptions => {
  if (after !== undefined && before !== undefined) {
    throw new AppError('INVALID_QUERY', 'Send after or before, not both.');
  }
  return {
    ...(limit !== undefined && { limit }),
    ...(after === undefined ? before !== undefined && { before } : { after }),
  };
};

/** Throws 403 `OWN_MAIL_KEY_REQUIRED`. `before` runs only if there is a key. */
const onCustomerAccount = async <T>(
  project: Project,
  call: (resend: Resend, options: { readonly signal: AbortSignal }) => Promise<Answer<T>>,
  before?: (project: Project) => Promise<void> | void,
): Promise<T> => {
  const apiKey = await customerProviderKey(project);
  if (!apiKey) {
    throw new AppError(
      'OWN_MAIL_KEY_REQUIRED',
      'Audiences, contacts and broadcasts need a mail provider key of your own. Set providerApiKey in the settings of the project.',
    );
  }
  await before?.(project);
  return callProvider(apiKey, (resend, signal) => call(resend, { signal }));
};

export const listAudiences = (project: Project, part: ListPart): Promise<unknown> =>
  onCustomerAccount(project, (resend, options) => resend.audiences.list(pagination(part), options));

export const createAudience = (project: Project, { name }: { readonly name: string }): Promise<unknown> =>
  onCustomerAccount(project, (resend, options) => resend.audiences.create({ name }, options));

export const deleteAudience = (project: Project, audienceId: string): Promise<unknown> =>
  onCustomerAccount(project, (resend, options) => resend.audiences.remove(pathId('audience', audienceId), options));

/** `null` clears a name. */
interface Contact {
  readonly email?: string | undefined;
  readonly firstName?: string | null | undefined;
  readonly lastName?: string | null | undefined;
  readonly unsubscribed?: boolean | undefined;
}

const toProvider = ({ email, firstName, lastName, unsubscribed }: Contact) => ({
  email,
  first_name: firstName,
  last_name: lastName,
  unsubscribed,
});

const contactsOf = (audienceId: string): string => `/audiences/${pathId('audience', audienceId)}/contacts`;

const contactPath = (audienceId: string, contactId: string): string =>
  `${contactsOf(audienceId)}/${contactPathId(contactId)}`;

export const listContacts = (project: Project, audienceId: string, part: ListPart): Promise<unknown> =>
  onCustomerAccount(project, (resend, options) =>
    resend.contacts.list({ ...pagination(part), audienceId: pathId('audience', audienceId) }, options),
  );

export const createContact = (project: Project, audienceId: string, contact: Contact): Promise<unknown> =>
  onCustomerAccount(project, (resend, options) => resend.post(contactsOf(audienceId), toProvider(contact), options));

/** Updates a contact, named by id or address. Returns the provider's response. */
export const updateContact = (
  project: Project,
  audienceId: string,
  contactId: string,
  changes: Contact,
): Promise<unknown> =>
  onCustomerAccount(project, (resend, options) =>
    resend.patch(contactPath(audienceId, contactId), toProvider(changes), options),
  );

/** Removes a contact, named by id or address. Returns the provider's response. */
export const deleteContact = (project: Project, audienceId: string, contactId: string): Promise<unknown> =>
  onCustomerAccount(project, (resend, options) =>
    resend.delete(contactPath(audienceId, contactId), undefined, options),
  );

/** The provider replaces it by the recipient's address and adds the headers of RFC 8058. */
const placeholder = /\{\{\{\s*RESEND_UNSUBSCRIBE_URL\s*\}\}\}/;

const footer = '<p><a href="{{{RESEND_UNSUBSCRIBE_URL}}}">Unsubscribe</a></p>';

/** Appends an unsubscribe link unless `html` already has one. */
export const withUnsubscribeLink = (html: string): string => {
  if (placeholder.test(html)) return html;
  const end = [...html.matchAll(/<\/body>/gi)].at(-1)?.index ?? html.length;
  return html.slice(0, end) + footer + html.slice(end);
};

/** An email to every subscribed contact of an audience. */
interface NewBroadcast {
  readonly audienceId: string;
  readonly subject: string;
  readonly html: string;
  /** ISO 8601. Without it the broadcast is a draft. */
  readonly scheduledAt?: string | undefined;
  /** An address or `Name <address>`; by default the project's, else the service's. */
  readonly from?: string | undefined;
}

/** Throws 403 `PRO_PLAN_REQUIRED` on other plans. */
const requirePro = ({ plan }: Project): void => {
  if (plan !== 'pro') throw new AppError('PRO_PLAN_REQUIRED', 'Broadcasts are part of the pro plan.');
};

/** Throws 429 `MAIL_QUOTA_EXCEEDED` if the month's quota is used up. */
const requireQuota = async (project: Project): Promise<void> => {
  requirePro(project);
  const { used, limit } = await mailUsage(project);
  if (used >= limit) throw quotaExceeded({ name: 'used', limit });
};

/** Creates a draft, or schedules the broadcast with `scheduledAt`. Returns the provider's response. */
export const createBroadcast = (
  project: Project,
  { audienceId, subject, html, scheduledAt, from }: NewBroadcast,
): Promise<unknown> =>
  onCustomerAccount(
    project,
    (resend, options) => {
      const draft = {
        audienceId: pathId('audience', audienceId),
        from: from ?? project.providerFromEmail ?? mailSettings().EMAIL_FROM,
        subject,
        html: withUnsubscribeLink(html),
      };
      const whole = scheduledAt === undefined ? draft : { ...draft, send: true as const, scheduledAt };
      return resend.broadcasts.create(whole, options);
    },
    requireQuota,
  );

export const sendBroadcast = (project: Project, id: string): Promise<unknown> =>
  onCustomerAccount(
    project,
    (resend, options) => resend.broadcasts.send(pathId('broadcast', id), {}, options),
    requireQuota,
  );

/** Returns the provider's list of broadcasts. */
export const listBroadcasts = (project: Project, part: ListPart): Promise<unknown> =>
  onCustomerAccount(project, (resend, options) => resend.broadcasts.list(pagination(part), options), requirePro);

export const getBroadcast = (project: Project, id: string): Promise<unknown> =>
  onCustomerAccount(project, (resend, options) => resend.broadcasts.get(pathId('broadcast', id), options), requirePro);

/** Deletes a broadcast that was not sent. Returns the provider's response. */
export const deleteBroadcast = (project: Project, id: string): Promise<unknown> =>
  onCustomerAccount(
    project,
    (resend, options) => resend.broadcasts.remove(pathId('broadcast', id), options),
    requirePro,
  );
