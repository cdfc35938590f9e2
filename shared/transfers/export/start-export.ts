import type { Project } from '../../projects/project.ts';
import { newTransfer, queued, queueTransfer } from '../new-transfer.ts';
import type { ExportRecord } from '../transfer-record.ts';
import { insertTransfer } from '../transfer-slots.ts';
import { toExportView } from '../transfer-view.ts';

/** Accepts an export; while one is under way → 409 `TRANSFER_RUNNING`, over the plan → 403 `PLAN_LIMIT`. */
export const startExport = async (
  project: Project,
  collectionName: string,
  { format, includeDeleted }: Pick<ExportRecord, 'format' | 'includeDeleted'>,
) => {
  const record: ExportRecord = {
    ...(await newTransfer(project, collectionName)),
    ...queued(),
    kind: 'export',
    format,
    includeDeleted,
    count: 0,
    bytes: 0,
    parts: [],
    last: null,
    written: false,
  };
  await insertTransfer(project, record);
  await queueTransfer(record);
  return toExportView(record);
};
