import path from 'node:path';
import type { Demo, ProjectKeys } from './demo.ts';
import type { Stack } from './stack.ts';
import { loadState, writeState } from './state-file.ts';

/** Where the parts of the local service are. */
type Addresses = Pick<Stack, 'baseUrl' | 'dashboardUrl' | 'inboxUrl' | 'webhookUrl' | 'webhookSecret' | 'filesUrl'>;

/** What scripts and tests need to use the local service: `$BASALT_DIR/dev.json`. */
export interface DevFile extends Demo, Addresses {
  readonly dashboardToken: string;
  /** The project of the example app, once it was started. */
  readonly example?: ProjectKeys;
  /** Where the example app is, while it runs. */
  readonly exampleUrl?: string;
}

const fileIn = (directory: string): string => path.join(directory, 'dev.json');

/** What an earlier start wrote; `undefined` before the first one, or where the file is damaged. */
export const loadDevFile = (directory: string): Promise<DevFile | undefined> => loadState(fileIn(directory));

export const writeDevFile = (directory: string, content: DevFile): Promise<void> =>
  writeState(fileIn(directory), content);
