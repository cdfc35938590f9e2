import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { mapConcurrent } from '../../../shared/core/concurrency.ts';
import { consoleCacheControl } from '../../../shared/http/console-headers.ts';
import { consoleFolder } from '../../../shared/persistence/s3.ts';
import type { ConsoleFile } from '../../build/console.ts';
import { withClient } from '../doctor/aws-clients.ts';
import type { Target } from '../doctor/check.ts';

const concurrency = 8;

/**
 * Uploads the console to its bucket. Scripts come before the page that loads them, so that no visitor gets a page with
 * missing scripts. Files of earlier releases stay, for pages that are still open.
 */
export const uploadConsole = (bucket: string, files: readonly ConsoleFile[], aws: Target['aws']): Promise<void> =>
  withClient(new S3Client(aws), async (client) => {
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
    const scripts = files.filter(({ immutable }) => immutable);
    await mapConcurrent(scripts, concurrency, put);
    for (const file of files) if (!file.immutable) await put(file);
  });
