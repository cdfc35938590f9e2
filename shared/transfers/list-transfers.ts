import { ObjectId } from 'mongodb';
import { clock } from '../core/clock.ts';
import type { Page, PageRequest } from '../core/page.ts';
import type { Project } from '../projects/project.ts';
import { onTransfers } from './transfer-record.ts';
import { type TransferItem, toTransferItem } from './transfer-view.ts';

/** The exports and imports of a project that are kept, whatever their state and collection, newest first. */
export const listTransfers = async ({ id }: Project, { page, limit }: PageRequest): Promise<Page<TransferItem>> => {
  const filter = { projectId: new ObjectId(id), expiresAt: { $gt: new Date(clock.now()) } };
  const shown = { projection: { parts: 0, errors: 0, last: 0 }, maxTimeMS: 5000 };
  const [records, total] = await onTransfers((transfers) =>
    Promise.all([
      transfers.find(filter, { ...shown, sort: { _id: -1 }, skip: (page - 1) * limit, limit }).toArray(),
      transfers.countDocuments(filter, { maxTimeMS: 5000 }),
    ]),
  );
  return { items: records.map(toTransferItem), total, page, limit };
};
