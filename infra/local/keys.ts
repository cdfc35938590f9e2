import { createHmac, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { linkKeyOf, publicPem } from '../../shared/files/link-keys.ts';
import { StartProblem } from './problem.ts';
import { createFile } from './state-directory.ts';

/** Region and credentials for the local AWS services that do not check them. */
export const localAccount = {
  region: 'eu-west-1',
  credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
} as const;

const keyBytes = 32;

const unusable = (file: string, what: string): StartProblem =>
  new StartProblem(
    `The encryption key of this data, ${file}, ${what}. Restore it from a backup; without it, stored secrets are lost.\n` +
      `To start over without the data, delete ${path.dirname(file)}`,
  );

/**
 * Returns the master key of a state directory, 32 bytes in base64. Creates it before there are data. Throws
 * `StartProblem` if it is damaged, or missing while there are data.
 */
export const encryptionKey = async (directory: string): Promise<string> => {
  const file = path.join(directory, 'encryption-key');
  if (!existsSync(file)) {
    if (existsSync(path.join(directory, 'mongo'))) throw unusable(file, 'is missing');
    await createFile(file, randomBytes(keyBytes).toString('base64'));
  }
  const key = (await readFile(file, 'utf8')).trim();
  if (Buffer.from(key, 'base64').length !== keyBytes) throw unusable(file, 'is damaged');
  return key;
};

/** The secret with which the fake mail provider signs its events. Derived from the master key, so restarts keep it. */
export const localWebhookSecret = (masterKey: string): string =>
  `whsec_${createHmac('sha256', masterKey).update('mail webhook').digest('base64')}`;

/**
 * The credentials of the local file store. The secret must not be guessable, because any web page can send requests to
 * 127.0.0.1. It is derived from the master key, so that upload URLs survive a restart.
 */
export const fileStoreKeys = (masterKey: string) => ({
  accessKeyId: 'local',
  secretAccessKey: createHmac('sha256', masterKey).update('file store').digest('base64url'),
});

/** The id of the only key that signs links to files on this machine. */
export const localLinkKey = 'local';

/** The public keys that verify links to files. */
export const localLinkKeys = async (): Promise<Readonly<Record<string, string>>> => ({
  [localLinkKey]: publicPem(await linkKeyOf(localLinkKey)),
});
