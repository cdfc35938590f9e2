import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { promisify } from 'node:util';
import { runSupervised, startSupervised } from './child.ts';
import { prepareImage, startContainer } from './docker.ts';
import { type LocalService, type LocalServiceOptions, startUntilReady } from './helper-process.ts';
import { originAt, probePort } from './ports.ts';
import { StartProblem } from './problem.ts';
import { cachedFolder } from './tool-cache.ts';

interface EngineOptions extends LocalServiceOptions {
  /** The state directory. */
  readonly directory: string;
}

/** Returns a function that starts DynamoDB. Throws if this machine does not have what it needs. */
type Engine = (options: EngineOptions) => Promise<() => Promise<LocalService>>;

const dataFile = (directory: string): string => path.join(directory, 'dynamo.db');
const dockerNote = (directory: string): string => path.join(directory, 'dynamo-in-docker');

/** Dynoxide, a DynamoDB on SQLite. */
const startDynoxide = async (command: string, { directory, onExit }: EngineOptions): Promise<LocalService> => {
  const port = await probePort(0);
  const address = originAt(port);
  const args = ['--host', '127.0.0.1', '--port', String(port), '--db-path', dataFile(directory)];
  const { stop } = await startUntilReady(
    { name: 'DynamoDB', command, args, onExit },
    { line: (line) => line.includes(address) || undefined },
    startSupervised,
  );
  return { address, stop };
};

/** Of the packages of Basalt. */
const packaged: Engine = async (options) => {
  let command: string;
  try {
    command = createRequire(import.meta.url).resolve('@dynoxide/linux-x64/dynoxide');
  } catch (cause) {
    throw new StartProblem('The packages have no DynamoDB for this system', { cause });
  }
  return () => startDynoxide(command, options);
};

const image = 'amazon/dynamodb-local:3.3.0';

const docker: Engine = async (options) => {
  await prepareImage(image, options);
  return async () => {
    options.report(`DynamoDB is ${image}, in Docker`);
    const { ready, stop } = await startContainer(
      {
        name: 'DynamoDB',
        image,
        port: 8000,
        data: '/data',
        // The image's own user may not write to a volume.
        options: ['--user', 'root'],
        args: ['-jar', 'DynamoDBLocal.jar', '-sharedDb', '-dbPath', '/data'],
        note: dockerNote(options.directory),
        poll: async (port) => {
          await fetch(originAt(port));
          return originAt(port);
        },
      },
      options,
    );
    return { address: ready, stop };
  };
};

/** Throws `StartProblem` unless a program responds to these arguments. Returns what it prints. */
const outputOf = async (command: string, ...args: readonly string[]): Promise<string> => {
  try {
    return (await promisify(execFile)(command, args, { timeout: 30_000 })).stdout.trim();
  } catch (cause) {
    const missing = (cause as NodeJS.ErrnoException).code === 'ENOENT';
    throw new StartProblem(missing ? `${command} is not installed` : `${command} ${args[0]} fails`, { cause });
  }
};

const crate = { name: 'dynoxide-rs', version: '3.2.0', features: 'native-sqlite,http-server,cli' } as const;

const compiled: Engine = async (options) => {
  await outputOf('cargo', '--version');
  const folder = await cachedFolder(`${crate.name}-${crate.version}`, async (root) => {
    options.report(`Compiling a DynamoDB, ${crate.name}, with cargo (only the first time; takes some minutes)`);
    const target = path.join(root, 'target');
    const build = ['--locked', '--no-default-features', '--features', crate.features, '--target-dir', target];
    const args = ['install', crate.name, '--version', crate.version, '--root', root, ...build];
    await runSupervised({ name: 'cargo install', command: 'cargo', args });
    await rm(target, { recursive: true });
  });
  return () => {
    options.report(`DynamoDB is ${crate.name}, compiled with cargo`);
    return startDynoxide(path.join(folder, 'bin/dynoxide'), options);
  };
};

const moto = '5.2.5';
const pythonPackages = [`moto[dynamodb]==${moto}`, 'flask==3.1.3', 'flask-cors==6.0.5'] as const;
const motoServer = path.join(import.meta.dirname, 'moto-server.py');

/** The data of moto end with it. */
const inMemory: Engine = async (options) => {
  const version = await outputOf('python3', '-c', 'import sys; print("%d.%d" % sys.version_info[:2])');
  const [, minor = 0] = version.split('.').map(Number);
  if (minor < 10) throw new StartProblem(`moto needs Python 3.10 or later, and python3 is ${version}`);
  // Packages for one version of Python may not work with another one.
  const folder = await cachedFolder(`moto-${moto}-python-${version}`, (target) => {
    options.report('Installing a DynamoDB, moto, with pip into node_modules (only the first time)');
    const args = ['-m', 'pip', 'install', '--quiet', '--target', target, ...pythonPackages];
    return runSupervised({ name: 'pip install', command: 'python3', args });
  });
  return async () => {
    options.report('DynamoDB is moto, with Python. Its data are lost at the end: sessions, quotas and lists of files');
    const port = await probePort(0);
    const env = { ...process.env, PYTHONPATH: folder };
    const { stop } = await startUntilReady(
      { name: 'DynamoDB', command: 'python3', args: [motoServer, String(port)], env, onExit: options.onExit },
      { line: (line) => line === 'ready' || undefined },
    );
    return { address: originAt(port), stop };
  };
};

/** The first of these that works is used. */
const engines = { packaged, docker, compiled, inMemory } as const;

/** With data of earlier starts, only the engines that can read them. */
const candidates = (directory: string): readonly (keyof typeof engines)[] => {
  if (existsSync(dockerNote(directory))) return ['docker'];
  return existsSync(dataFile(directory)) ? ['packaged', 'compiled'] : ['packaged', 'docker', 'compiled', 'inMemory'];
};

const advice = (directory: string, reasons: readonly string[]): string => {
  const hasData = candidates(directory).length < Object.keys(engines).length;
  return [
    `No DynamoDB can run on this machine${hasData ? ` with the data in ${directory}` : ''}:`,
    ...reasons.map((reason) => `  ${reason}`),
    'Do one of these, then start again:',
    existsSync(dataFile(directory)) ? '  install Rust: https://rustup.rs' : '  start Docker',
    hasData
      ? `  start over without the data: delete ${directory}`
      : '  install Rust (https://rustup.rs), or Python 3.10 or later with pip',
    '  use a DynamoDB of your own: AWS_ENDPOINT_URL_DYNAMODB=http://127.0.0.1:8000 npm start',
  ].join('\n');
};

/** Starts the first DynamoDB that works on this machine. Throws `StartProblem` with advice if there is no such one. */
export const startEngine = async (options: EngineOptions): Promise<LocalService> => {
  const reasons: string[] = [];
  for (const name of candidates(options.directory)) {
    let start: () => Promise<LocalService>;
    try {
      start = await engines[name](options);
    } catch (error) {
      reasons.push(error instanceof Error ? error.message : String(error));
      continue;
    }
    return start();
  }
  throw new StartProblem(advice(options.directory, reasons));
};
