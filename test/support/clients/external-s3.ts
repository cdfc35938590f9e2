import { startFiles } from '../../../infra/local/files/start-files.ts';

/** A customer's S3 with other keys, another region and its own public host. */
export interface ExternalS3 {
  readonly endpoint: string;
  readonly region: string;
  readonly bucket: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Serves the bucket's objects publicly. */
  readonly publicHost: string;
}

export interface RunningS3 extends ExternalS3 {
  /** `address:port` for permissions. */
  readonly address: string;
  stop(): Promise<void>;
}

const customers = {
  region: 'us-east-1',
  bucket: 'customer-files',
  keys: { accessKeyId: 'AKIACUSTOMER', secretAccessKey: 'secret/of+the/customer' },
};

/** Starts it, with its files in `directory`. */
export const startExternalS3 = async (
  directory: string,
  { keys, ...place }: typeof customers = customers,
): Promise<RunningS3> => {
  const { s3Url, filesUrl, stop } = await startFiles({
    ...place,
    keys,
    directory,
    publicFolder: '',
    port: 0,
    report: () => undefined,
    onExit: (detail) => process.stderr.write(`${detail}\n`),
  });
  return { ...place, ...keys, endpoint: s3Url, publicHost: filesUrl, address: new URL(s3Url).host, stop };
};
