import { randomBytes } from 'node:crypto';
import { link, readFile, rm, writeFile } from 'node:fs/promises';

/** The master key of a state directory: 32 bytes in base64, made once and readable by its owner only. */
export const encryptionKey = async (file: string): Promise<string> => {
  const draft = `${file}.${process.pid}`;
  try {
    await writeFile(draft, randomBytes(32).toString('base64'), { mode: 0o600, flush: true });
    // A link is made whole or not at all, so that a crash cannot leave half a key behind.
    await link(draft, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    await rm(draft, { force: true });
  }
  return (await readFile(file, 'utf8')).trim();
};
