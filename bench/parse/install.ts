import path from 'node:path';
import { installFolder } from '../../scripts/install-folder.ts';

/** Installs Parse Server. Returns the reason if that fails. */
export const installPeers = (report: (step: string) => void): Promise<string | undefined> =>
  installFolder(path.join(import.meta.dirname, '../peers'), (seconds) =>
    report(`installing Parse Server (once; about a minute): ${seconds} s`),
  );
