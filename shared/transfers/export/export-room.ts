import { clock } from '../../core/clock.ts';
import { plans } from '../../projects/plans.ts';
import type { Project } from '../../projects/project.ts';
import { TransferFailure } from '../transfer-failure.ts';
import { type ExportRecord, onTransfers } from '../transfer-record.ts';

const gibibyte = 1024 ** 3;

/** Bytes of a project's exports that are kept or being written, but for this one. */
const othersOf = ({ _id, projectId }: ExportRecord): Promise<number> =>
  onTransfers(async (transfers) => {
    const kept = { projectId, _id: { $ne: _id }, kind: 'export', expiresAt: { $gt: new Date(clock.now()) } } as const;
    const [sum] = await transfers
      .aggregate<{ readonly bytes: number }>(
        [
          { $match: { ...kept, state: { $in: ['queued', 'running', 'done'] } } },
          { $group: { _id: null, bytes: { $sum: '$bytes' } } },
        ],
        { maxTimeMS: 5000 },
      )
      .toArray();
    return sum?.bytes ?? 0;
  });

/** Ends an export with which those that its project keeps are more than the plan allows: `TransferFailure`. */
export const requireExportRoom = async ({ plan }: Project, record: ExportRecord): Promise<void> => {
  const { exportBytes } = plans[plan];
  if (record.bytes + (await othersOf(record)) <= exportBytes) return;
  throw new TransferFailure(
    `With it the exports of this project have more than the ${exportBytes / gibibyte} GiB that the ${plan} plan keeps. Delete others, or read the documents from the database itself.`,
  );
};
