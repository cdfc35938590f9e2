import { ObjectId } from 'mongodb';
import { findPage } from '../clients/find-page.ts';
import { clock } from '../core/clock.ts';
import type { Page, PageRequest } from '../core/page.ts';
import type { Project } from '../projects/project.ts';
import { onTransfers } from './transfer-record.ts';
import { type TransferItem, toTransferItem } from './transfer-view.ts';

/** The exports and imports of a project that are kept, whatever their state and collection, newest first. */
export const listTransfers = async ({ id }: Project, request: PageRequest): Promise<Page<TransferItem>> => {
  const filter = { projectId: new ObjectId(id), expiresAt: { $gt: new Date(clock.now()) } };
  const shown = { projection: { parts: 0, errors: 0, last: 0 }, sort: { _id: -1 } } as const;
  const found = await findPage(onTransfers, filter, request, shown);
  return { ...found, items: found.items.map(toTransferItem) };
};
