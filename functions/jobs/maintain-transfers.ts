/**
 * Runs on a schedule: puts exports and imports back on the queue that it has lost, and removes old ones with their
 * files.
 */
export { maintainTransfers as handler } from '../../shared/transfers/run-transfer.ts';
