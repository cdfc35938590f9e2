import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';

/** Enough for a slow registry. */
const limitMs = 5 * 60_000;

/** npm itself where a script of npm runs this; otherwise the one on the PATH. */
const npmCommand = (): readonly [string, ...string[]] => {
  const running = process.env.npm_execpath;
  return running?.endsWith('npm-cli.js') ? [process.execPath, running] : ['npm'];
};

const firstLines = (said: string): string =>
  said
    .replaceAll('npm error', '')
    .trim()
    .split(/\s*\n\s*/)
    .slice(0, 4)
    .join(', ') || 'npm failed';

/** Runs `npm ci` in a folder; what npm said if it fails, `undefined` if it does not. */
const install = (folder: string, onSecond: (seconds: number) => void): Promise<string | undefined> =>
  new Promise((resolve) => {
    const begin = Date.now();
    const tell = (): void => onSecond(Math.round((Date.now() - begin) / 1000));
    tell();
    const ticker = setInterval(tell, 5000);
    const [command, ...args] = npmCommand();
    const npm = spawn(command, [...args, 'ci', '--loglevel=error'], {
      cwd: folder,
      stdio: ['ignore', 'ignore', 'pipe'],
      timeout: limitMs,
    });
    let said = '';
    npm.stderr.on('data', (chunk) => {
      said += chunk;
    });
    const end = (failure: string | undefined): void => {
      clearInterval(ticker);
      resolve(failure);
    };
    npm.on('error', (error) => end(error.message));
    npm.on('close', (code) => end(code === 0 ? undefined : firstLines(said)));
  });

/**
 * Sees that the packages of a folder's own lock file are there, which the project itself does not install; why they are
 * not, if they cannot be had. `onSecond` is told now and then how long it has taken.
 */
export const installFolder = async (
  folder: string,
  onSecond: (seconds: number) => void,
): Promise<string | undefined> => {
  const stamp = path.join(folder, 'node_modules/.basalt-lock');
  const wanted = createHash('sha256')
    .update(await readFile(path.join(folder, 'package-lock.json')))
    .digest('hex');
  if ((await readFile(stamp, 'utf8').catch(() => '')) === wanted) return undefined;
  const failure = await install(folder, onSecond);
  if (failure === undefined) await writeFile(stamp, wanted);
  return failure;
};
