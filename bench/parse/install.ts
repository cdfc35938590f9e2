import path from 'node:path';
import { installFolder } from '../../scripts/install-folder.ts';

/** Sees that Parse Server is there; why it is not, if it cannot be had. */
export const installPeers = (report: (step: string) => void): Promise<string | undefined> =>
  installFolder(path.join(import.meta.dirname, '../peers'), (seconds) =>
    report(`installing Parse Server (once; about a minute): ${seconds} s`),
  );
