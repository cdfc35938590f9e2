import { readdir, readFile, rm, stat } from 'node:fs/promises';
import path from 'node:path';

const descriptionEnding = '.meta.json';

const isComplete = async (description: string, content: string): Promise<boolean> => {
  try {
    const { contentLength } = JSON.parse(await readFile(description, 'utf8')) as { readonly contentLength: unknown };
    return (await stat(content)).size === contentLength;
  } catch {
    return false;
  }
};

const isJson = async (file: string): Promise<boolean> => {
  try {
    JSON.parse(await readFile(file, 'utf8'));
    return true;
  } catch {
    return false;
  }
};

/** Removes multipart uploads, and parts, whose description is incomplete. */
const dropTornParts = async (directory: string): Promise<void> => {
  const folder = path.join(directory, '_multipart');
  const names = await readdir(folder, { recursive: true }).catch(() => []);
  for (const name of names.filter((entry) => entry.endsWith('.json'))) {
    if (await isJson(path.join(folder, name))) continue;
    await rm(path.join(folder, name.endsWith('.upload.json') ? path.dirname(name) : name), {
      recursive: true,
      force: true,
    });
  }
};

/**
 * Removes objects that were only partly written when the process was killed. No client got a success response for them,
 * and fauxqs would not start with them.
 */
export const dropTornFiles = async (directory: string): Promise<void> => {
  await dropTornParts(directory);
  const names = await readdir(path.join(directory, 'buckets'), { recursive: true }).catch(() => []);
  for (const name of names.filter((entry) => entry.endsWith(descriptionEnding))) {
    const description = path.join(directory, 'buckets', name);
    const content = `${description.slice(0, -descriptionEnding.length)}.data`;
    if (!(await isComplete(description, content))) {
      await Promise.all([rm(description, { force: true }), rm(content, { force: true })]);
    }
  }
};
