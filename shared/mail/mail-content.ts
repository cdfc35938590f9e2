import type { ObjectId } from 'mongodb';
import { AppError } from '../core/errors.ts';
import { open, seal } from '../projects/sealed.ts';
import { type AccountKey, builtInTemplates, mustShow } from './templates/built-in.ts';
import { findOwnByKey } from './templates/find-template.ts';
import { carriesProof, type MailContent, renderTemplate } from './templates/render-template.ts';

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
  const own = mail.wordsOf === null ? null : await findOwnByKey(mail.wordsOf, mail.template);
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
