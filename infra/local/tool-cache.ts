import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { isAlive } from './processes.ts';

const cache = path.resolve(import.meta.dirname, '../../node_modules/.cache/basalt');

/** Removes folders of killed processes. Their names end in the process id. */
const removeAbandoned = async (): Promise<void> => {
  for (const name of await readdir(cache).catch(() => [])) {
    const pid = /\.filling-(\d+)$/.exec(name)?.[1];
    if (pid && !isAlive(Number(pid))) await rm(path.join(cache, name), { recursive: true, force: true });
  }
};

/**
 * Returns a folder of `node_modules/.cache`. If it does not exist, `fill` writes its content, completely or not at all.
 * Several processes can call it at the same time.
 */
export const cachedFolder = async (name: string, fill: (draft: string) => Promise<void>): Promise<string> => {
  const folder = path.join(cache, name);
  if (existsSync(folder)) return folder;
  await removeAbandoned();
  const draft = `${folder}.filling-${process.pid}`;
  await mkdir(draft, { recursive: true });
  try {
    await fill(draft);
    await rename(draft, folder).catch((error: unknown) => {
      if (!existsSync(folder)) throw error;
    });
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  return folder;
};
