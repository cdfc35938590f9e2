import { maintainTransfers } from '../../shared/transfers/maintain-transfers.ts';

/**
 * Runs on a schedule: puts exports and imports back on the queue that it has lost, and removes old ones with their
 * files.
 */
export const handler = (): Promise<{ readonly queued: number; readonly removed: number }> => maintainTransfers();
