import { readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Demo } from './demo.ts';

/** What scripts and tests need to use the local service: `$BASALT_DIR/dev.json`. */
export interface DevFile extends Demo {
  readonly baseUrl: string;
  readonly dashboardUrl: string;
  /** The page on which the mails that went out can be read. */
  readonly inboxUrl: string;
  /** Where the mail provider sends its events. */
  readonly webhookUrl: string;
  /** What it signs them with, `whsec_…`. */
  readonly webhookSecret: string;
  /** Where the public files are. */
  readonly filesUrl: string;
  readonly dashboardToken: string;
}

const fileIn = (directory: string): string => path.join(directory, 'dev.json');

/** What an earlier start wrote; `undefined` before the first one, or where the file is damaged. */
export const readDevFile = async (directory: string): Promise<DevFile | undefined> => {
  try {
    return JSON.parse(await readFile(fileIn(directory), 'utf8')) as DevFile;
  } catch {
    return undefined;
  }
};

/** Replaces the file in one step; only its owner can read it. */
export const writeDevFile = async (directory: string, content: DevFile): Promise<void> => {
  const draft = `${fileIn(directory)}.${process.pid}`;
  await writeFile(draft, `${JSON.stringify(content, undefined, 2)}\n`, { mode: 0o600 });
  await rename(draft, fileIn(directory));
};
