import { sweepUploads } from '../../shared/files/cleanup.ts';

export const handler = async (): Promise<{ readonly settled: number }> => ({ settled: await sweepUploads() });
