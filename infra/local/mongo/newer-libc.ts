import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { isAlive } from '../process-stat.ts';

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
type Machine = keyof typeof machines;

const cache = path.resolve(import.meta.dirname, '../../../node_modules/.cache/basalt');

const at = (root: string, machine: Machine): NewerLibc => {
  const { triple, loader } = machines[machine];
  const libraries = path.join(root, 'usr/lib', triple);
  return { libraries, loader: path.join(libraries, loader) };
};

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

const unpack = async (work: string, id: Distribution): Promise<void> => {
  const mirror = await configuredMirror(id);
  if (!mirror) throw new Error('No package archive is configured on this machine');
  const folder = (name: string): string => path.join(work, name);
  for (const name of ['lists/partial', 'cache/archives/partial', 'debs', 'root']) {
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
  for (const deb of await readdir(folder('debs'))) {
    await run('dpkg-deb', ['-x', path.join(folder('debs'), deb), folder('root')]);
  }
};

/** Removes work folders of killed processes. Their names end in the process id. */
const removeAbandoned = async (): Promise<void> => {
  for (const name of await readdir(cache).catch(() => [])) {
    const pid = /^libc-unpacking\.(\d+)$/.exec(name)?.[1];
    if (pid && !isAlive(Number(pid))) await rm(path.join(cache, name), { recursive: true, force: true });
  }
};

/**
 * Downloads a newer C library from the archive of Debian or Ubuntu, one time and without root; `undefined` on other
 * systems. Several processes can call it at the same time.
 */
export const newerLibc = async (report: (step: string) => void): Promise<NewerLibc | undefined> => {
  const machine = process.arch;
  if (process.platform !== 'linux' || (machine !== 'x64' && machine !== 'arm64')) return undefined;
  const root = path.join(cache, `libc-${machine}`);
  if (existsSync(root)) return at(root, machine);
  const id = await distribution();
  if (!id) return undefined;
  report('Downloading a newer C library for MongoDB into node_modules (only the first time)');
  const work = path.join(cache, `libc-unpacking.${process.pid}`);
  await removeAbandoned();
  try {
    await unpack(work, id);
    await rename(path.join(work, 'root'), root).catch((error: unknown) => {
      if (!existsSync(root)) throw error;
    });
  } finally {
    await rm(work, { recursive: true, force: true });
  }
  return at(root, machine);
};
