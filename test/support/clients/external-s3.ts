import { startFiles } from '../../../infra/local/files/start-files.ts';

/** An S3 that is not ours, as a customer would connect it: other keys, another region, and a public host of its own. */
export interface ExternalS3 {
  readonly endpoint: string;
  readonly region: string;
  readonly bucket: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Serves the bucket's objects by their keys to everybody. */
  readonly publicHost: string;
}

export interface RunningS3 extends ExternalS3 {
  /** `address:port`, as it has to be permitted. */
  readonly address: string;
  stop(): Promise<void>;
}

const customers = {
  region: 'us-east-1',
  bucket: 'customer-files',
  keys: { accessKeyId: 'AKIACUSTOMER', secretAccessKey: 'secret/of+the/customer' },
};

/** Starts such an S3, with its files in `directory`. */
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
