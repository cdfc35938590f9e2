import { deleteIfOrphan } from '../../shared/documents/files.ts';
import { sweepUploads } from '../../shared/files/cleanup.ts';

export const handler = async (): Promise<{ readonly settled: number }> => ({
  settled: await sweepUploads(undefined, deleteIfOrphan),
});
