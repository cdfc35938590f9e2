import { createHmac } from 'node:crypto';

/** What the emulations of AWS are told that check nothing. */
export const localAccount = {
  region: 'eu-west-1',
  credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
} as const;

/**
 * What requests to the file store of this machine are signed with: pages of any site reach it, so nobody may know it.
 * The same from one start to the next, as the master key is, so that addresses for uploads stay good.
 */
export const fileStoreKeys = (encryptionKey: string) => ({
  accessKeyId: 'local',
  secretAccessKey: createHmac('sha256', encryptionKey).update('file store').digest('base64url'),
});
