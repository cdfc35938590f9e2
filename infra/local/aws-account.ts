/** Region and credentials for the local AWS services that do not check them. */
export const localAccount = {
  region: 'eu-west-1',
  credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
} as const;
