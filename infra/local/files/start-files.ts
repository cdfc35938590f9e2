import path from 'node:path';
import { localAccount } from '../aws-account.ts';
import { startHelper } from '../helper-process.ts';
import type { LocalServiceOptions } from '../local-service.ts';
import { onFreePorts, originAt, portAfter, preferPort } from '../ports.ts';
import { type LocalSettings, localBucket } from '../settings.ts';
import { localLinkKey } from './link-keys.ts';
import type { S3Keys } from './signature.ts';
import type { SizesFunction } from './sizes.ts';

export interface FilesHostOptions {
  /** Made where it is missing. */
  readonly bucket: string;
  readonly region: string;
  /** The only keys with which requests may be signed. */
  readonly keys: S3Keys;
  readonly s3Port: number;
  /** `/<path>` of the public origin is the object `<publicFolder>/<path>`; empty for all of the bucket. */
  readonly publicFolder: string;
  readonly publicPort: number;
  /** Public keys of signed links by their ids; without any there are no private files. */
  readonly linkKeys?: Readonly<Record<string, string>>;
  /** The function that makes sizes of pictures; without it there are none. */
  readonly sizes?: SizesFunction;
}

interface FilesOptions extends LocalServiceOptions, Omit<FilesHostOptions, 's3Port' | 'publicPort'> {
  /** Where the files are kept. */
  readonly directory: string;
  /** Port of the public API; the files' ports are preferred at places after it, or any for 0. */
  readonly port: number;
}

export interface Files {
  /** Where S3 is, for signed requests. */
  readonly s3Url: string;
  /** Where the objects below `files/` can be read by everybody. */
  readonly filesUrl: string;
  readonly bucket: string;
  /** What requests to S3 are signed with. */
  readonly keys: S3Keys;
  stop(): Promise<void>;
}

const host = path.join(import.meta.dirname, 'files-host.ts');

/** Preferred places after the port of the public API. */
const places = { public: 6, s3: 7 } as const;

const start = async ({ port, directory, report, onExit, ...options }: FilesOptions): Promise<Files> => {
  const publicPort = await preferPort(portAfter(port, places.public));
  const s3Port = await preferPort(portAfter(port, places.s3));
  const args = [JSON.stringify({ ...options, publicPort, s3Port } satisfies FilesHostOptions), directory];
  const { stop } = await startHelper({ name: 'The file store', file: host, args, report, onExit });
  return { s3Url: originAt(s3Port), filesUrl: originAt(publicPort), bucket: options.bucket, keys: options.keys, stop };
};

/** Starts S3 and the origin of public files on loopback, with the files kept in `directory`. */
export const startFiles = (options: FilesOptions): Promise<Files> => onFreePorts(() => start(options));

/** The file store of the settings, or one of our own with its files below `directory`. */
export const findFiles = async (
  directory: string,
  settings: LocalSettings,
  options: LocalServiceOptions & Pick<FilesHostOptions, 'keys' | 'linkKeys' | 'sizes'>,
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

/** What tells functions where the files are. */
export const filesEnvironment = ({ s3Url, filesUrl, bucket, keys }: Files): Record<string, string> => ({
  // For whatever of AWS they ask: all but S3 and the Event API take any.
  AWS_ACCESS_KEY_ID: keys.accessKeyId,
  AWS_SECRET_ACCESS_KEY: keys.secretAccessKey,
  AWS_ENDPOINT_URL_S3: s3Url,
  FILES_BUCKET: bucket,
  FILES_URL: filesUrl,
  LINK_KEY_ID: localLinkKey,
});
