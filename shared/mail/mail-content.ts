import type { ObjectId } from 'mongodb';
import { open, seal } from '../projects/sealed.ts';
import type { AccountMail } from './render-account-mail.ts';
import type { MailContent } from './templates/render-template.ts';

/** A mail whose words are given. */
export interface WrittenMail extends MailContent {
  readonly kind: 'written';
  readonly replyTo: readonly string[];
}

/** A mail of user accounts, which is put into words when it is sent. */
export interface UnwrittenMail extends Pick<AccountMail, 'template'> {
  readonly kind: 'account';
  /** `link` (empty where there is no site to lead to), `code`, and `minutes` for which the code is good. */
  readonly variables: Readonly<Record<string, string>>;
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
