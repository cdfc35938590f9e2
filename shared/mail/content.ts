import type { ObjectId } from 'mongodb';
import { mailSettings } from '../core/config.ts';
import { AppError } from '../core/errors.ts';
import { addressIn } from '../core/schemas.ts';
import { sharedProviderKey } from '../outbound/resend.ts';
import type { Project } from '../projects/project.ts';
import { open, seal } from '../projects/sealed.ts';
import { providerKeyId } from '../projects/settings.ts';
import { type AccountKey, builtInTemplates, mustShow } from './templates/built-in.ts';
import { carriesProof, type MailContent, renderTemplate } from './templates/render.ts';
import { findCustomByKey } from './templates/templates.ts';

interface AccountMail {
  /** The project, 24 hex characters, whose own template is used; `null` for the built-in one whatever there is. */
  readonly wordsOf: string | null;
  readonly template: AccountKey;
  readonly siteName: string;
}

/**
 * `link` (empty where there is no site to lead to), `code`, and `minutes` for which the code is good; `change`; or
 * `device`, `place` and `time`.
 */
type AccountVariables = Readonly<Record<string, string>>;

const renderOwn = (
  own: MailContent,
  { template, siteName }: Pick<AccountMail, 'template' | 'siteName'>,
  variables: AccountVariables,
): MailContent | null => {
  const shown = mustShow[template].filter((name) => variables[name]);
  if (!carriesProof(own, shown)) return null;
  try {
    const rendered = renderTemplate({ ...own, name: '', siteName }, variables);
    return rendered.subject.trim() === '' ? null : rendered;
  } catch (error) {
    if (error instanceof AppError) return null;
    throw error;
  }
};

/**
 * What a mail of user accounts says where the project has this template of its own, or `null`. Its own takes the place
 * of the built-in one only where the mail still brings along what it is for: nobody is to be locked out by a template.
 */
export const accountMailFrom = (
  own: MailContent | null,
  mail: Pick<AccountMail, 'template' | 'siteName'>,
  variables: AccountVariables,
): MailContent =>
  (own && renderOwn(own, mail, variables)) ??
  renderTemplate({ ...builtInTemplates[mail.template], siteName: mail.siteName }, variables);

/** The words of a mail of user accounts: the project's own template, or the built-in one (contract 5, "Templates"). */
export const renderAccountMail = async (mail: AccountMail, variables: AccountVariables): Promise<MailContent> => {
  const own = mail.wordsOf === null ? null : await findCustomByKey(mail.wordsOf, mail.template);
  return accountMailFrom(own, mail, variables);
};

/** A mail whose words are given. */
interface WrittenMail extends MailContent {
  readonly kind: 'written';
  readonly replyTo: readonly string[];
}

/** A mail of user accounts, which is put into words when it is sent. */
export interface UnwrittenMail extends Pick<AccountMail, 'template'> {
  readonly kind: 'account';
  readonly variables: AccountVariables;
}

/** What a job is to send. */
export type JobContent = (WrittenMail | UnwrittenMail) & {
  /** Who the mail says it is from. */
  readonly siteName: string;
};

export const sealContent = (content: JobContent, logId: ObjectId): Promise<string> =>
  seal(JSON.stringify(content), logId.toHexString());

export const openContent = async (sealed: string, logId: ObjectId): Promise<JobContent> =>
  JSON.parse(await open(sealed, logId.toHexString())) as JobContent;

const longestName = 40;

/** What a reader, or a mail program, could make an address of: with a scheme, a host or a user; numbers to call. */
const addresses = [
  /\S*(?::\/\/|@)\S*/g,
  /\b(?:www\.|mailto:|tel:)\S*/gi,
  /\S*(?:\p{L}|\p{N})[.](?:\p{L}|xn--)[\p{L}\p{M}\p{N}-]+\S*/gu,
  /\S*[\da-f]*:[\da-f]*:\S*/gi,
  /\+?\d(?:[\s().-]*\d){6,}/g,
];

const dots = /[\u3002\uff0e\uff61]/g;

/** Signs that join two words, such as those of `Fern & Field`, `Jean-Luc` and `O'Brien`, which stay; and all others. */
const signs = /(?<=[\p{L}\p{M}\p{N}])( [&-] |[&'’-])(?=[\p{L}\p{N}])|[^\p{L}\p{M}\p{N}]+/gu;

/**
 * The name of a project as a mail from the address that all share shows it: letters, digits and spaces, and `&`, `-`
 * and apostrophes between them, 40 characters, nothing that leads anywhere. `''` where nothing is left of it.
 */
export const plainName = (name: string): string => {
  const readable = name.normalize('NFKC').replace(dots, '.');
  const words = addresses.reduce((text, address) => text.replace(address, ' '), readable);
  const plain = words.replace(signs, (_, joining = ' ') => joining).trim();
  return [...plain]
    .slice(0, longestName)
    .join('')
    .replace(/[^\p{L}\p{M}\p{N}]+$/u, '');
};

/** A site's plain name before the address that `from` holds; `from` as it is where nothing is left of the name. */
export const senderOf = (siteName: string, from: string): string => {
  const name = plainName(siteName);
  return name === '' ? from.trim() : `${name} <${addressIn(from)}>`;
};

/** Who a mail is from: the project's own address, or (`null`) ours with the site's name. */
export const fromOf = (ownAddress: string | null, siteName: string): string =>
  ownAddress ?? senderOf(siteName, mailSettings().EMAIL_FROM);

type KeyHolder = Pick<Project, 'id' | 'sealedProviderApiKey'>;

/** The project's own key at the mail provider; `null` where it has none. */
export const customerProviderKey = async ({ id, sealedProviderApiKey }: KeyHolder): Promise<string | null> =>
  sealedProviderApiKey && open(sealedProviderApiKey, providerKeyId(id));

/** The key with which a project calls the mail provider: its own, or else the one that all share. */
export const providerFor = async (project: KeyHolder) => {
  const own = await customerProviderKey(project);
  return own ? { apiKey: own, byok: true } : { apiKey: await sharedProviderKey(), byok: false };
};
