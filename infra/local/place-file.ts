import { randomUUID } from 'node:crypto';
import { link, rm, writeFile } from 'node:fs/promises';

/**
 * Makes a file with this content that only its owner can read, whole or not at all, so that neither a crash nor a
 * reader in between finds half of it; false where there is one already.
 */
export const placeFile = async (file: string, content: string): Promise<boolean> => {
  // Its own name a call: two callers of one process would take each other's draft away.
  const draft = `${file}.${randomUUID()}`;
  try {
    await writeFile(draft, content, { mode: 0o600, flush: true });
    await link(draft, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return false;
  } finally {
    await rm(draft, { force: true });
  }
};
