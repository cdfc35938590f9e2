import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { consoleCacheControl } from '../../../shared/http/console-headers.ts';
import { consoleFolder } from '../../../shared/persistence/console-files.ts';
import { mapConcurrent } from '../../../shared/persistence/jobs.ts';
import type { ConsoleFile } from '../../build/console.ts';
import { asking } from '../doctor/asking.ts';
import type { Target } from '../doctor/check.ts';

/** How many files go at once. */
const atOnce = 8;

/**
 * Puts the files of the console into its bucket: first those that others name, the page last, so that nobody is given a
 * page whose scripts are not there. What a release before had stays, for pages that are open.
 */
export const uploadConsole = (bucket: string, files: readonly ConsoleFile[], aws: Target['aws']): Promise<void> =>
  asking(new S3Client(aws), async (client) => {
    const put = ({ path, type, bytes, immutable }: ConsoleFile) =>
      client.send(
        new PutObjectCommand({
          Bucket: bucket,
          Key: `${consoleFolder}${path}`,
          Body: bytes,
          ContentType: type,
          CacheControl: consoleCacheControl(immutable),
        }),
      );
    const named = files.filter(({ immutable }) => immutable);
    await mapConcurrent(named, atOnce, put);
    for (const file of files) if (!file.immutable) await put(file);
  });
