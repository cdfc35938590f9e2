import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';

const version = '0.39.0';

/** Kept for the next run. */
const folder = path.resolve(import.meta.dirname, `../../node_modules/.cache/basalt/pocketbase-${version}`);

/** PocketBase's official program, without extensions. */
export const pocketBase = path.join(folder, 'base');

const build = (report: (seconds: number) => void): Promise<string | undefined> =>
  new Promise((resolve) => {
    const begin = Date.now();
    const ticker = setInterval(() => report(Math.round((Date.now() - begin) / 1000)), 5000);
    const go = spawn('go', ['install', `github.com/pocketbase/pocketbase/examples/base@v${version}`], {
      env: { ...process.env, GOBIN: folder, CGO_ENABLED: '0' },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let said = '';
    go.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      said = (said + chunk).slice(-500);
    });
    const end = (failure: string | undefined): void => {
      clearInterval(ticker);
      resolve(failure);
    };
    go.on('error', (error: NodeJS.ErrnoException) =>
      end(error.code === 'ENOENT' ? 'Go is not installed' : String(error)),
    );
    go.on('close', (code) => end(code === 0 ? undefined : said.trim().split('\n').at(-1)));
  });

/** Installs PocketBase. Returns the reason if that fails. */
export const installPocketBase = async (report: (step: string) => void): Promise<string | undefined> => {
  if (existsSync(pocketBase)) return undefined;
  return build((seconds) => report(`building PocketBase (once; about two minutes): ${seconds} s`));
};
