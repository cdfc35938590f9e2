import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';

const limitMs = 5 * 60_000;

/** The npm that runs this script, or else the one on the PATH. */
const npmCommand = (): readonly [string, ...string[]] => {
  const running = process.env.npm_execpath;
  return running?.endsWith('npm-cli.js') ? [process.execPath, running] : ['npm'];
};

const firstLines = (output: string): string =>
  output
    .replaceAll('npm error', '')
    .trim()
    .split(/\s*\n\s*/)
    .slice(0, 4)
    .join(', ') || 'npm failed';

/** Runs `npm ci` in a folder. Returns npm's message if it fails. */
const install = (folder: string, onSecond: (seconds: number) => void): Promise<string | undefined> =>
  new Promise((resolve) => {
    const begin = Date.now();
    const report = (): void => onSecond(Math.round((Date.now() - begin) / 1000));
    report();
    const ticker = setInterval(report, 5000);
    const [command, ...args] = npmCommand();
    const npm = spawn(command, [...args, 'ci', '--loglevel=error'], {
      cwd: folder,
      stdio: ['ignore', 'ignore', 'pipe'],
      timeout: limitMs,
    });
    let output = '';
    npm.stderr.on('data', (chunk) => {
      output += chunk;
    });
    const end = (failure: string | undefined): void => {
      clearInterval(ticker);
      resolve(failure);
    };
    npm.on('error', (error) => end(error.message));
    npm.on('close', (code) => end(code === 0 ? undefined : firstLines(output)));
  });

/**
 * Installs the packages of a folder with its own lock file, unless they are installed already. Returns the reason if
 * that fails. `onSecond` is called every 5 s with the elapsed seconds.
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
