import { sweepUploads } from '../../shared/files/cleanup.ts';

/**
 * Runs on a schedule: ends reservations that nobody confirmed, and removes what is left of uploads and deleted files.
 */
export const handler = async (): Promise<{ readonly settled: number }> => ({ settled: await sweepUploads() });
