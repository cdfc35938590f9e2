import { ListObjectsV2Command } from '@aws-sdk/client-s3';
import { onFiles } from '../../clients/s3.ts';
import { fileKey, pendingKey } from '../../files/file-path.ts';
import { managedBucket } from '../../files/managed-bucket.ts';
import { transferPrefixes } from '../../transfers/transfer-record.ts';

/** The most that one request lists, and that one removes. */
const pageSize = 1000;

const nextKeys = (prefix: string) =>
  onFiles(async (client, Bucket) => {
    const { Contents = [] } = await client.send(
      new ListObjectsV2Command({ Bucket, Prefix: prefix, MaxKeys: pageSize }),
    );
    return Contents.flatMap(({ Key }) => Key ?? []);
  });

/**
 * Removes what a project has in our bucket, confirmed or not, at most `pages` times 1 000 objects; storage of its own
 * is left as it is. `complete` tells whether nothing is left.
 */
export const removeProjectFiles = async (
  projectId: string,
  pages: number,
): Promise<{ readonly removed: number; readonly complete: boolean }> => {
  const prefixes = [pendingKey(`${projectId}/`), fileKey(`${projectId}/`), ...transferPrefixes(projectId)];
  let removed = 0;
  for (let page = 0; page < pages; page++) {
    const [prefix] = prefixes;
    if (prefix === undefined) return { removed, complete: true };
    const keys = await nextKeys(prefix);
    await managedBucket.remove(keys);
    removed += keys.length;
    if (keys.length < pageSize) prefixes.shift();
  }
  return { removed, complete: prefixes.length === 0 };
};
