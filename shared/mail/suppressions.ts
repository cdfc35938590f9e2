import { type IndexDescription, ObjectId } from 'mongodb';
import { clock } from '../core/clock.ts';
import { AppError } from '../core/errors.ts';
import { newId } from '../core/ids.ts';
import { addressIn } from '../core/schemas.ts';
import type { Page, PageRequest } from '../core/values.ts';
import { viewOf } from '../core/values.ts';
import { inControl } from '../persistence/mongo.ts';
import { findPage } from '../persistence/records.ts';
import type { Project } from '../projects/project.ts';

type SuppressionReason = 'bounced' | 'complained';

interface Suppression {
  readonly _id: ObjectId;
  readonly projectId: ObjectId;
  /** See `canonicalAddress`. */
  readonly email: string;
  readonly reason: SuppressionReason;
  readonly providerEmailId: string | null;
  readonly createdAt: Date;
}

/** The unique index leaves one record per address, however many events arrive concurrently. */
export const suppressionIndexes: readonly IndexDescription[] = [
  { key: { projectId: 1, email: 1 }, name: 'email', unique: true },
  { key: { projectId: 1, _id: -1 }, name: 'newest' },
];

export const suppressions = inControl<Suppression>('mailSuppressions');

/** Address for comparisons, without the display name. */
export const canonicalAddress = (mailbox: string): string => addressIn(mailbox).toLowerCase();

const suppressionsOf = (projectId: string, email?: string) => ({
  projectId: new ObjectId(projectId),
  ...(email === undefined ? {} : { email: { $eq: canonicalAddress(email) } }),
});

/** Suppresses addresses. Can be repeated; a complaint replaces a bounce. */
export const suppress = async (
  projectId: string,
  addresses: readonly string[],
  { reason, providerEmailId }: Pick<Suppression, 'reason' | 'providerEmailId'>,
): Promise<void> => {
  const createdAt = new Date(clock.now());
  const emails = [...new Set(addresses.map(canonicalAddress))].filter((email) => email !== '');
  if (emails.length === 0) return;
  await suppressions.bulkWrite(
    emails.map((email) => ({
      updateOne: {
        filter: suppressionsOf(projectId, email),
        update:
          reason === 'complained'
            ? { $setOnInsert: { _id: newId(), createdAt }, $set: { reason, providerEmailId } }
            : { $setOnInsert: { _id: newId(), createdAt, reason, providerEmailId } },
        upsert: true,
      },
    })),
    { ordered: false },
  );
};

/** The recipients of each email without suppressed addresses, in one query. */
export const receiversOf = async (
  projectId: string,
  mails: readonly { readonly to: readonly string[] }[],
): Promise<string[][]> => {
  const wanted = [...new Set(mails.flatMap(({ to }) => to.map(canonicalAddress)))];
  if (wanted.length === 0) return mails.map(() => []);
  const found = await suppressions.find(
    { ...suppressionsOf(projectId), email: { $in: wanted } },
    { projection: { _id: 0, email: 1 }, limit: wanted.length },
  );
  const suppressed = new Set(found.map(({ email }) => email));
  return mails.map(({ to }) => to.filter((address) => !suppressed.has(canonicalAddress(address))));
};

type SuppressionView = ReturnType<typeof toView>;

const toView = (record: Suppression) => viewOf(record, ['email', 'reason', 'providerEmailId', 'createdAt']);

export const listSuppressions = (project: Project, request: PageRequest): Promise<Page<SuppressionView>> =>
  findPage(suppressions, suppressionsOf(project.id), request, { sort: { _id: -1 } }, toView);

/** Throws 404 `SUPPRESSION_NOT_FOUND`. */
export const deleteSuppression = async (project: Project, email: string): Promise<void> => {
  const { deletedCount } = await suppressions.deleteOne(suppressionsOf(project.id, email));
  if (deletedCount === 0) throw new AppError('SUPPRESSION_NOT_FOUND', 'This address is not suppressed.');
};
