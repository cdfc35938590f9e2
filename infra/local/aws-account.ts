/** What the emulations of AWS are told; none of them checks it. */
export const localAccount = {
  region: 'eu-west-1',
  credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
} as const;
