import type { ObjectId } from 'mongodb';
import { mailSettings } from '../core/config.ts';
import { AppError } from '../core/errors.ts';
import { addressIn } from '../core/schemas.ts';
import { sharedProviderKey } from '../outbound/resend.ts';
import type { Project } from '../projects/project.ts';
import { open, seal } from '../projects/sealed.ts';
import { providerKeyId } from '../projects/settings.ts';
import { type AccountKey, builtInTemplates, requiredVariables } from './templates/built-in.ts';
import { containsVariable, type MailContent, renderTemplate, type Variables } from './templates/render.ts';
import { findCustomByKey } from './templates/templates.ts';

interface AccountMail {
  /** Id of the project whose custom template is used; `null` always uses the built-in one. */
  readonly wordsOf: string | null;
  readonly template: AccountKey;
  readonly siteName: string;
}

/** `link` (empty without a site), `code` and `minutes`; or `change`; or `device`, `place` and `time`. */
type AccountVariables = Readonly<Record<string, string>>;

const renderOwn = (
  own: MailContent,
  { template, siteName }: Pick<AccountMail, 'template' | 'siteName'>,
  variables: AccountVariables,
): MailContent | null => {
  const shown = requiredVariables[template].filter((name) => variables[name]);
  if (!containsVariable(own, shown)) return null;
  try {
    const rendered = renderTemplate({ ...own, name: '', siteName }, variables);
    return rendered.subject.trim() === '' ? null : rendered;
  } catch (error) {
    if (error instanceof AppError) return null;
    throw error;
  }
};

/** The built-in template is used if the custom one lacks the link or code, so that no template locks users out. */
export const accountMailFrom = (
  own: MailContent | null,
  mail: Pick<AccountMail, 'template' | 'siteName'>,
  variables: AccountVariables,
): MailContent =>
  (own && renderOwn(own, mail, variables)) ??
  renderTemplate({ ...builtInTemplates[mail.template], siteName: mail.siteName }, variables);

/** Renders an account email from the project's custom template or the built-in one. */
export const renderAccountMail = async (mail: AccountMail, variables: AccountVariables): Promise<MailContent> => {
  const own = mail.wordsOf === null ? null : await findCustomByKey(mail.wordsOf, mail.template);
  return accountMailFrom(own, mail, variables);
};

interface WrittenMail extends MailContent {
  readonly kind: 'written';
  readonly replyTo: readonly string[];
}

/** An account email; it is rendered when it is sent. */
export interface UnwrittenMail extends Pick<AccountMail, 'template'> {
  readonly kind: 'account';
  readonly variables: AccountVariables;
}

/** An email of an effect; its template is looked up when it is sent. */
interface TemplateMail {
  readonly kind: 'effect';
  /** Id, name or key. */
  readonly template: string;
  readonly variables: Variables;
}

export type JobContent = (WrittenMail | UnwrittenMail | TemplateMail) & {
  /** Sender name. */
  readonly siteName: string;
};

export const sealContent = (content: JobContent, logId: ObjectId): Promise<string> =>
  seal(JSON.stringify(content), logId.toHexString());

export const openContent = async (sealed: string, logId: ObjectId): Promise<JobContent> =>
  JSON.parse(await open(sealed, logId.toHexString())) as JobContent;

const maxNameLength = 40;

/** What mail programs turn into links: URLs, addresses, host names and phone numbers. */
const addresses = [
  /\S*(?::\/\/|@)\S*/g,
  /\b(?:www\.|mailto:|tel:)\S*/gi,
  /\S*(?:\p{L}|\p{N})[.](?:\p{L}|xn--)[\p{L}\p{M}\p{N}-]+\S*/gu,
  /\S*[\da-f]*:[\da-f]*:\S*/gi,
  /\+?\d(?:[\s().-]*\d){6,}/g,
];

const dots = /[\u3002\uff0e\uff61]/g;

/** Signs that join two words, such as in `Fern & Field`, `Jean-Luc` and `O'Brien`, stay; all others go. */
const signs = /(?<=[\p{L}\p{M}\p{N}])( [&-] |[&'’-])(?=[\p{L}\p{N}])|[^\p{L}\p{M}\p{N}]+/gu;

/**
 * A name for emails, by default the project's for those from the shared address: at most 40 letters, digits, spaces and
 * joining signs, and nothing that mail programs turn into a link. May be empty.
 */
export const plainName = (name: string, maxLength = maxNameLength): string => {
  const readable = name.normalize('NFKC').replace(dots, '.');
  const words = addresses.reduce((text, address) => text.replace(address, ' '), readable);
  const plain = words.replace(signs, (_, joining = ' ') => joining).trim();
  return Array.from(plain)
    .filter((_, at) => at < maxLength)
    .join('')
    .replace(/[^\p{L}\p{M}\p{N}]+$/u, '');
};

/** `Name <address>`, or `from` unchanged if the plain name is empty. */
export const senderOf = (siteName: string, from: string): string => {
  const name = plainName(siteName);
  return name === '' ? from.trim() : `${name} <${addressIn(from)}>`;
};

/** Sender: the project's own address, or ours with the site name. */
export const fromOf = (ownAddress: string | null, siteName: string): string =>
  ownAddress ?? senderOf(siteName, mailSettings().EMAIL_FROM);

type KeyHolder = Pick<Project, 'id' | 'sealedProviderApiKey'>;

/** `null` if the project has no key of its own. */
export const customerProviderKey = async ({ id, sealedProviderApiKey }: KeyHolder): Promise<string | null> =>
  sealedProviderApiKey && open(sealedProviderApiKey, providerKeyId(id));

/** The project's own key at the mail provider, or the shared one. */
export const providerFor = async (project: KeyHolder) => {
  const own = await customerProviderKey(project);
  return own ? { apiKey: own, byok: true } : { apiKey: await sharedProviderKey(), byok: false };
};
