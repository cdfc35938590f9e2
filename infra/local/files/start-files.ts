import path from 'node:path';
import { type LocalServiceOptions, startHelper } from '../helper-process.ts';
import { localAccount, localLinkKey } from '../keys.ts';
import { onFreePorts, originAt, portAfter, preferPort } from '../ports.ts';
import { type LocalSettings, localBucket } from '../settings.ts';
import type { VariantFunction } from './public-origin.ts';
import type { S3Keys } from './signature.ts';

export interface FilesHostOptions {
  /** Created if it is missing. */
  readonly bucket: string;
  readonly region: string;
  /** The only credentials that may sign requests. */
  readonly keys: S3Keys;
  readonly s3Port: number;
  /** `/<path>` of the public origin is the object `<publicFolder>/<path>`; empty for the complete bucket. */
  readonly publicFolder: string;
  readonly publicPort: number;
  /** Public keys that verify links to private files, by their ids. */
  readonly linkKeys?: Readonly<Record<string, string>>;
  /** Creates image variants. */
  readonly variants?: VariantFunction;
}

interface FilesOptions extends LocalServiceOptions, Omit<FilesHostOptions, 's3Port' | 'publicPort'> {
  /** The folder of the data. */
  readonly directory: string;
  /** The public API's port, from which the preferred ports are counted; 0 for any free ports. */
  readonly port: number;
}

export interface Files {
  /** For signed requests. */
  readonly s3Url: string;
  /** For public files. */
  readonly filesUrl: string;
  readonly bucket: string;
  readonly keys: S3Keys;
  stop(): Promise<void>;
}

const host = path.join(import.meta.dirname, 'files-host.ts');

/** Preferred ports, counted from the public API's. */
const offsets = { public: 6, s3: 7 } as const;

const start = async ({ port, directory, report, onExit, ...options }: FilesOptions): Promise<Files> => {
  const publicPort = await preferPort(portAfter(port, offsets.public));
  const s3Port = await preferPort(portAfter(port, offsets.s3));
  const args = [JSON.stringify({ ...options, publicPort, s3Port } satisfies FilesHostOptions), directory];
  const { stop } = await startHelper({ name: 'The file store', file: host, args, report, onExit });
  return { s3Url: originAt(s3Port), filesUrl: originAt(publicPort), bucket: options.bucket, keys: options.keys, stop };
};

/** Starts S3 and the origin of public files on loopback. */
export const startFiles = (options: FilesOptions): Promise<Files> => onFreePorts(() => start(options));

/** Returns the user's own file store, or starts one with its data in `directory`. */
export const findFiles = async (
  directory: string,
  settings: LocalSettings,
  options: LocalServiceOptions & Pick<FilesHostOptions, 'keys' | 'linkKeys' | 'variants'>,
): Promise<Files> => {
  if (settings.files) return { ...settings.files, keys: localAccount.credentials, stop: async () => undefined };
  return startFiles({
    ...options,
    directory: path.join(directory, 'files'),
    bucket: localBucket,
    publicFolder: 'files',
    region: localAccount.region,
    port: settings.port,
  });
};

/** The environment variables that lead functions to the files. */
export const filesEnvironment = ({ s3Url, filesUrl, bucket, keys }: Files): Record<string, string> => ({
  // For all AWS services; only S3 and the Event API check them.
  AWS_ACCESS_KEY_ID: keys.accessKeyId,
  AWS_SECRET_ACCESS_KEY: keys.secretAccessKey,
  AWS_ENDPOINT_URL_S3: s3Url,
  FILES_BUCKET: bucket,
  FILES_URL: filesUrl,
  LINK_KEY_ID: localLinkKey,
});
