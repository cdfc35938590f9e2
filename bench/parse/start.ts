import { type Contender, startContender } from '../contender.ts';
import type { Backing } from '../processes.ts';
import { parseEnvironment } from './keys.ts';

/** Its database, on the same engine. */
export const peerDatabase = 'bench-parse';

/** Starts Parse Server in a process of its own; it may write into `directory`. */
export const startPeer = (
  env: Readonly<Record<string, string>>,
  directory: string,
  backing: Backing | undefined,
): Promise<Contender> =>
  startContender(
    'Parse Server',
    'peers/parse-server.mjs',
    {
      ...env,
      ...parseEnvironment,
      PEER_DATABASE: peerDatabase,
      NODE_ENV: 'production',
      PARSE_SERVER_LOGS_FOLDER: 'null',
    },
    {},
    backing,
    // It prints deprecation warnings at every start.
    { cwd: directory, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] },
  );
