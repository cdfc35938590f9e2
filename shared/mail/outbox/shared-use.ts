import { ObjectId } from 'mongodb';
import { AppError } from '../../core/errors.ts';
import { loadProject } from '../../projects/find-project-by-id.ts';
import type { Project } from '../../projects/project.ts';
import type { MailUse } from './mail-quota.ts';

type Sender = Pick<Project, 'id' | 'ownerKey' | 'ownerVerified' | 'sealedProviderApiKey'>;

const notVerified = (): AppError =>
  new AppError(
    'EMAIL_NOT_VERIFIED',
    'The developer who owns this project has to verify their e-mail address before it sends mails with the key that all projects share. Use the link or code of the mail that came after registration, or have another sent with POST /api/auth/resend-verification of the dashboard API; or give the project a mail provider key of its own.',
  );

/**
 * The owner's address is verified, or the project has a mail key of its own; else 403 `EMAIL_NOT_VERIFIED`. What is
 * known of the owner may be some seconds old, so that whoever is about to be refused is looked up again.
 */
export const requireVerifiedOwner = async (project: Sender): Promise<void> => {
  if (project.sealedProviderApiKey !== null || project.ownerVerified) return;
  const now = await loadProject(new ObjectId(project.id));
  if (!now?.ownerVerified) throw notVerified();
};

/** What mails take of the owner's month and the service's day, by recipients; nothing with an own key. */
export const sharedUse = (
  { ownerKey, sealedProviderApiKey }: Sender,
  mails: readonly { readonly _id: ObjectId; readonly to: readonly string[] }[],
): Pick<MailUse, 'shared'> => {
  if (sealedProviderApiKey !== null) return {};
  const recipients = Object.fromEntries(mails.map(({ _id, to }) => [_id.toHexString(), to.length]));
  return { shared: { owner: ownerKey, recipients } };
};
