import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { realpath, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { runSupervised, startSupervised } from './child.ts';
import { type LocalService, type LocalServiceOptions, startUntilReady } from './helper-process.ts';
import { probePort } from './ports.ts';
import { StartProblem } from './problem.ts';

const docker = async (...args: readonly string[]): Promise<string> => {
  // Docker Desktop accepts commands while it starts, and responds to none of them.
  const { stdout } = await promisify(execFile)('docker', args, { timeout: 30_000 });
  return stdout.trim();
};

const succeeds = (...args: readonly string[]): Promise<boolean> =>
  docker(...args).then(
    () => true,
    () => false,
  );

/** Throws `StartProblem` unless Docker runs with Linux containers, and downloads the image if it is missing. */
export const prepareImage = async (image: string, { report }: LocalServiceOptions): Promise<void> => {
  const system = await docker('version', '--format', '{{.Server.Os}}').catch((error: NodeJS.ErrnoException) => {
    const reason = error.code === 'ENOENT' ? 'is not installed' : 'is not running';
    throw new StartProblem(`Docker ${reason}`, { cause: error });
  });
  if (system !== 'linux') throw new StartProblem('Docker does not run Linux containers');
  if (await succeeds('image', 'inspect', image)) return;
  report(`Downloading ${image} with Docker (only the first time)`);
  await runSupervised({ name: `docker pull ${image}`, command: 'docker', args: ['pull', '--quiet', image] });
};

interface Container<T> {
  /** The name in messages; in lower case, it is part of the container's name. */
  readonly name: string;
  readonly image: string;
  /** The port in the container. */
  readonly port: number;
  /** The folder in the container that has the data. */
  readonly data: string;
  /** Options of `docker run`. */
  readonly options?: readonly string[];
  readonly args: readonly string[];
  /** A file of the state directory: if it exists, Docker has the data of earlier starts. */
  readonly note: string;
  /** Returns a value when the service responds at this port. */
  readonly poll: (port: number) => Promise<T>;
}

/** Creates the volume for the data. Throws `StartProblem` if the data of earlier starts are missing. */
const prepareVolume = async (volume: string, note: string): Promise<void> => {
  if (!existsSync(note)) {
    // A volume with this name belongs to a state directory that was deleted.
    await docker('volume', 'rm', '--force', volume);
    await docker('volume', 'create', volume);
    await writeFile(note, `${volume}\n`);
  } else if (!(await succeeds('volume', 'inspect', volume))) {
    throw new StartProblem(
      `Docker has no volume ${volume}, which should have the data of earlier starts.\n` +
        'Was the folder of the data moved or copied? Move it back, or delete it to start over.',
    );
  }
};

/**
 * Runs a service in Docker on a free port of loopback, with its data in a volume. The container ends with this process,
 * also after `kill -9`. One that is left from a crash of the machine is replaced.
 */
export const startContainer = async <T>(
  { name, image, port, data, options = [], args, note, poll }: Container<T>,
  { onExit }: LocalServiceOptions,
): Promise<{ readonly ready: T } & Pick<LocalService, 'stop'>> => {
  const folder = createHash('sha256').update(await realpath(path.dirname(note)));
  const id = `basalt-${name.toLowerCase()}-${folder.digest('hex').slice(0, 12)}`;
  await docker('rm', '--force', id);
  await prepareVolume(id, note);
  const hostPort = await probePort(0);
  const network = ['--publish', `127.0.0.1:${hostPort}:${port}`];
  const run = ['run', '--rm', '--name', id, ...network, '--volume', `${id}:${data}`, ...options, image, ...args];
  // Killing the command leaves its container running, so the container is stopped. Before there is one, the command is.
  const end = `docker stop -t 5 ${id} || { kill -9 "$program"; docker rm --force ${id}; }`;
  return startUntilReady(
    { name, command: 'docker', args: run, onExit, killAfterMs: 15_000 },
    { poll: () => poll(hostPort) },
    (child) => startSupervised(child, end),
  );
};
