import { readdir, readFile, rm, stat } from 'node:fs/promises';
import path from 'node:path';

const description = '.meta.json';

const isWhole = async (described: string, content: string): Promise<boolean> => {
  try {
    const { contentLength } = JSON.parse(await readFile(described, 'utf8')) as { readonly contentLength: unknown };
    return (await stat(content)).size === contentLength;
  } catch {
    return false;
  }
};

/** Whether what describes an upload in parts, or one of them, was written to its end. */
const isReadable = async (described: string): Promise<boolean> => {
  try {
    JSON.parse(await readFile(described, 'utf8'));
    return true;
  } catch {
    return false;
  }
};

/**
 * Uploads in parts, and parts of them, whose description is torn; a torn part has another length, and counts as none.
 */
const dropTornParts = async (directory: string): Promise<void> => {
  const folder = path.join(directory, '_multipart');
  const names = await readdir(folder, { recursive: true }).catch(() => []);
  for (const name of names.filter((entry) => entry.endsWith('.json'))) {
    if (await isReadable(path.join(folder, name))) continue;
    await rm(path.join(folder, name.endsWith('.upload.json') ? path.dirname(name) : name), {
      recursive: true,
      force: true,
    });
  }
};

/**
 * Removes from the S3 emulation's folder every object of which only a part was written when the process was killed.
 * Nobody has been told that it is there, and the emulation would not start on it.
 */
export const dropTornFiles = async (directory: string): Promise<void> => {
  await dropTornParts(directory);
  const names = await readdir(path.join(directory, 'buckets'), { recursive: true }).catch(() => []);
  for (const name of names.filter((entry) => entry.endsWith(description))) {
    const described = path.join(directory, 'buckets', name);
    const content = `${described.slice(0, -description.length)}.data`;
    if (!(await isWhole(described, content))) {
      await Promise.all([rm(described, { force: true }), rm(content, { force: true })]);
    }
  }
};
